import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AttackFailure,
  expectNoSecrets,
  parseObject,
  withConnection,
} from '../../../core/selftest/expectations.js';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import type { Attack, Verdict } from '../attack.js';
import { craftRequest, sendOnce } from '../expectations.js';
import type { OwnModules, Scene } from '../scene.js';
import { flood, type Scripts, SMUGGLED } from '../servers/scripted-server.js';

/** The size of an event of the modules. */
const EVENT_BYTES = 4096;
/** The host allows three streams. */
const STREAMS = 5;
/** The host allows 1 s without reading and 5 s for a response; the rest is for busy machines. */
const CLOSE_DEADLINE_MS = 15_000;
const POLL_MS = 100;

const STREAMING = {
  limits: {
    timeout_ms: 4000,
    body_idle_ms: 1000,
    stream: { idle_ms: 1000, per_actor: 3, event_bytes: EVENT_BYTES },
  },
  routes: ['sse', 'ndjson'].map((stream) => ({
    ...{ method: 'GET', path: `/${stream}/{kind}`, capability: 'shop.use' },
    operation: { stream },
  })),
};

/** Streams that the host ends soon. A client that reads nothing has its own, which are counted separately. */
export const STREAM_MODULES: OwnModules = { stream: STREAMING, 'stream-slow': STREAMING };

const TYPES = { sse: 'text/event-stream', ndjson: 'application/x-ndjson' } as const;

/** `sent` is latin-1. */
type HostileStream = readonly [form: keyof typeof TYPES, name: string, title: string, sent: string];

const DATA = `data: ${SMUGGLED}\n\n`;
const END = `event: modgate.end\n${DATA}`;
const LONG_TEXT = SMUGGLED + 'x'.repeat(2 * EVENT_BYTES);

/** Bytes that must not reach a client, which could mistake them for output of the host. */
const HOSTILE_STREAMS: readonly HostileStream[] = [
  ['sse', 'end', 'an event that imitates the end', END],
  ['sse', 'open', 'an event that imitates the start', `event:modgate.open\n${DATA}`],
  ['sse', 'cr', 'such a name behind a carriage return', `id: 1\r${END.replaceAll('\n', '\r')}`],
  ['sse', 'mark', 'such a name behind a byte-order mark', `\xef\xbb\xbf${END}`],
  ['sse', 'twice', 'such a name behind a harmless one', `event: a\n${END}`],
  ['sse', 'late', 'such a name, unfinished', `data: ${SMUGGLED}\nevent: modgate.problem`],
  ['sse', 'bytes', 'an event that is not UTF-8', `data: ${SMUGGLED} \xff\n\n`],
  ['sse', 'large', 'an event without an end', `data: ${LONG_TEXT}`],
  ['ndjson', 'end', 'a line that imitates the end', `{"modgate.end":"${SMUGGLED}"}\n`],
  ['ndjson', 'escaped', 'such a member with an escape', `{"\\u006dodgate.end":"${SMUGGLED}"}\n`],
  [
    'ndjson',
    'behind',
    'such a member behind others',
    `{"a":{"b":[]},"modgate.problem":"${SMUGGLED}"}\n`,
  ],
  ['ndjson', 'invalid', 'a line that is not JSON', `{"${SMUGGLED}":}\n`],
  ['ndjson', 'large', 'a line without an end', `"${LONG_TEXT}`],
];

export const STREAM_SCRIPTS: Scripts = {
  ...Object.fromEntries(
    HOSTILE_STREAMS.map(([form, name, , sent]) => [
      `/${form}/${name}`,
      (_, response) => void begin(response, form).end(Buffer.from(sent, 'latin1')),
    ]),
  ),
  '/sse/headless': () => {},
  '/sse/kept': (_, response) => void begin(response).write('data: 1\n\n'),
  '/sse/flood': (_, response) => {
    flood(begin(response), `data: ${'x'.repeat(EVENT_BYTES / 2)}\n\n`);
  },
};

function begin(response: ServerResponse, form: keyof typeof TYPES = 'sse'): ServerResponse {
  return response.writeHead(200, { 'content-type': TYPES[form] });
}

export const STREAM_CASES: readonly Attack[] = [
  ...HOSTILE_STREAMS.map(
    ([form, name, title]): Attack => ({
      id: `stream-${form}-${name}`,
      title,
      attack: (scene) => expectProblemEvent(scene, form, name),
    }),
  ),
  {
    id: 'stream-unasked',
    title: 'a stream for a client that accepts anything',
    send: { target: '/modules/stream/http/sse/kept', headers: [['accept', '*/*']] },
    rejected: 406,
  },
  {
    id: 'stream-headless',
    title: 'a stream whose head never comes',
    attack: async (scene) => {
      await sendOnce(scene, craftStream(scene, '/sse/headless'), 502);
      return null;
    },
  },
  { id: 'stream-many', title: `${STREAMS} streams of one caller`, attack: expectBound },
  {
    id: 'stream-slow-reader',
    title: 'a client that opens a stream and reads nothing',
    isSlow: true,
    attack: (scene) => {
      const bytes = craftStream(scene, '/sse/flood', 'sse', 'stream-slow');
      return expectUnreadStreamToEnd(scene, bytes, 'stream-slow');
    },
  },
];

function craftStream(
  scene: Scene,
  path: string,
  form: keyof typeof TYPES = 'sse',
  module = 'stream',
): Buffer {
  const headers = [['accept', TYPES[form]]] as const;
  return craftRequest(scene, { target: `/modules/${module}/http${path}`, headers });
}

async function expectProblemEvent(
  scene: Scene,
  form: keyof typeof TYPES,
  name: string,
): Promise<Verdict> {
  const response = await sendOnce(scene, craftStream(scene, `/${form}/${name}`, form));
  const text = response.body.toString('latin1');
  if (text.includes(SMUGGLED)) return 'the event of the provider reached the client';
  if (!text.includes('modgate.problem')) return 'the stream did not end with a problem';
  return expectNoSecrets(scene, response);
}

async function expectBound(scene: Scene): Promise<Verdict> {
  const connections: RawConnection[] = [];
  try {
    for (let index = 0; index < STREAMS; index += 1) {
      const connection = await RawConnection.to(scene.address);
      connections.push(connection);
      connection.write(craftStream(scene, '/sse/kept'));
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

/**
 * Opens a stream of the module and reads nothing. The host must end it, and report its open
 * streams.
 * @param bytes the request
 */
export function expectUnreadStreamToEnd(
  scene: Scene,
  bytes: Buffer,
  module: string,
): Promise<Verdict> {
  return withConnection(scene, async (connection) => {
    connection.pause();
    // Between two looks at a busy host the stream may open and end: its call is counted then.
    const { calls: earlier } = await readCounts(scene, module);
    connection.write(bytes);
    let wasOpen = false;
    const deadline = performance.now() + CLOSE_DEADLINE_MS;
    while (performance.now() < deadline) {
      const { calls, in_flight, streams = 0 } = await readCounts(scene, module);
      wasOpen ||= calls > earlier && in_flight === 0;
      if (wasOpen && streams === 0) return null;
      await pause(POLL_MS);
    }
    return wasOpen ? 'the stream stayed open' : 'the stream was never open';
  });
}

interface Counts {
  readonly calls: number;
  readonly in_flight: number;
  readonly streams?: number;
}

async function readCounts(scene: Scene, module: string): Promise<Counts> {
  const response = await sendOnce(scene, { target: '/modules' });
  const list = parseObject(response.body)?.['modules'];
  if (!Array.isArray(list)) throw new AttackFailure('the host lists no modules');
  const entries = list as { name: string; counts: Counts }[];
  const entry = entries.find(({ name }) => name === module);
  if (entry === undefined) throw new AttackFailure(`the host does not list ${module}`);
  return entry.counts;
}
