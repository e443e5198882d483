import type { Attack, Verdict } from '../../attack-case.js';
import { expectNoSecrets, sendOnce } from '../../expectations.js';
import { RawConnection } from '../../raw-http.js';
import { SMUGGLED } from '../../raw-mode-scripts.js';
import { craftRequest } from '../../request-bytes.js';
import type { Scene } from '../../scene.js';
import { HOSTILE_STREAMS, SLOW_STREAM_MODULE, STREAM_MODULE } from '../../stream-scripts.js';
import { expectUnreadStreamToEnd } from './unread-streams.js';

const SSE = ['accept', 'text/event-stream'] as const;
const NDJSON = ['accept', 'application/x-ndjson'] as const;
/** The host allows three streams. */
const STREAMS = 5;
const CLOSE_DEADLINE_MS = 20_000;

const targetOf = (path: string, module = STREAM_MODULE) => `/modules/${module}/http${path}`;

export const STREAM_CASES: readonly Attack[] = [
  ...HOSTILE_STREAMS.map(
    ({ form, name, title }): Attack => ({
      id: `stream-${form}-${name}`,
      title,
      attack: (scene) => expectProblemEvent(scene, form, name),
    }),
  ),
  {
    id: 'stream-unasked',
    title: 'a stream for a client that accepts anything',
    send: { target: targetOf('/sse/kept'), headers: [['accept', '*/*']] },
    rejected: 406,
  },
  {
    id: 'stream-headless',
    title: 'a stream whose head never comes',
    attack: expectTimeout,
  },
  {
    id: 'stream-many',
    title: `${STREAMS} streams of one caller`,
    attack: expectBound,
  },
  {
    id: 'stream-slow-reader',
    title: 'a client that opens a stream and reads nothing',
    isSlow: true,
    attack: (scene) => {
      const target = targetOf('/sse/flood', SLOW_STREAM_MODULE);
      const bytes = craftRequest(scene, { target, headers: [SSE] });
      return expectUnreadStreamToEnd(scene, bytes, SLOW_STREAM_MODULE);
    },
  },
];

async function expectProblemEvent(
  scene: Scene,
  form: 'sse' | 'ndjson',
  name: string,
): Promise<Verdict> {
  const target = targetOf(`/${form}/${name}`);
  const headers = [form === 'sse' ? SSE : NDJSON];
  const response = await sendOnce(scene, { target, headers });
  const text = response.body.toString('latin1');
  if (text.includes(SMUGGLED)) return 'the event of the provider reached the client';
  if (!text.includes('modgate.problem')) return 'the stream did not end with a problem';
  return expectNoSecrets(scene, response);
}

async function expectTimeout(scene: Scene): Promise<Verdict> {
  const target = targetOf('/sse/headless');
  await sendOnce(scene, { target, headers: [SSE] }, 502);
  return null;
}

async function expectBound(scene: Scene): Promise<Verdict> {
  const bytes = craftRequest(scene, { target: targetOf('/sse/kept'), headers: [SSE] });
  const connections: RawConnection[] = [];
  try {
    for (let index = 0; index < STREAMS; index += 1) {
      const connection = await RawConnection.to(scene.address);
      connections.push(connection);
      connection.write(bytes);
      await connection.closedOrSent(CLOSE_DEADLINE_MS);
      if (connection.unread.startsWith('HTTP/1.1 429 ')) return null;
    }
    return `${STREAMS} streams were open at once`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    for (const connection of connections) connection.destroy();
  }
}
