import type { Attack, Verdict } from '../../attack-case.js';
import {
  expectDisconnect,
  expectRejected,
  readResponse,
  sendOnce,
  withConnection,
} from '../../expectations.js';
import {
  LONG_MODULE,
  LONGEST_BYTES,
  OVERSIZED_START,
  TURNING_RESPONSES,
} from '../../long-body-scripts.js';
import { SMUGGLED } from '../../raw-mode-scripts.js';
import { craftLines, craftRequest } from '../../request-bytes.js';
import { listReceived, requireOwn, type Scene } from '../../scene.js';

const CLOSE_DEADLINE_MS = 10_000;
const LINES = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
const LAST = '0\r\n\r\n';
/** More than the head of a request may have. */
const ENDLESS_LINES = 'x-endless: a\r\n'.repeat(20_000);

export const longTarget = (path: string) => `/modules/${LONG_MODULE}/http${path}`;

/** Bodies that exceed the buffer: their ends are validated after their starts were forwarded. */
export const LONG_BODY_CASES: readonly Attack[] = [
  ...TURNING_RESPONSES.map(
    ({ name, title, path }): Attack => ({
      id: `response-long-${name}`,
      title,
      attack: (scene) => expectCut(scene, path),
    }),
  ),
  {
    id: 'response-long-good',
    title: 'a long response is forwarded, without its trailers',
    attack: expectWhole,
  },
  {
    id: 'oversize-answer-head-endless',
    title: 'a response whose head never ends',
    attack: async (scene) => {
      await sendOnce(scene, { target: longTarget('/long/head') }, 502);
      return null;
    },
  },
  {
    id: 'oversize-head-endless',
    title: 'a head that never ends',
    isSlow: true,
    needs: 'nothing',
    attack: (scene) => expectClosing(scene, `GET /livez HTTP/1.1\r\nhost: a\r\n${ENDLESS_LINES}`),
  },
  {
    id: 'oversize-long-trailers',
    title: 'a long body whose trailers never end',
    isSlow: true,
    attack: (scene) => {
      const body = `${chunk(OVERSIZED_START)}${chunk(']')}0\r\n${ENDLESS_LINES}`;
      return expectClosing(scene, craftPost(scene, 'items', body));
    },
  },
  rejectLong('json', 'late', 'text after the value', chunk(']x') + LAST),
  rejectLong('json', 'open', 'an unclosed array', LAST),
  rejectLong('json', 'two', 'two values', chunk(']{"a":1}') + LAST),
  rejectLong('json', 'utf8', 'invalid UTF-8', chunk(',"\xff"]') + LAST),
  rejectLong(
    'oversize',
    'body',
    'a length beyond the limit',
    chunk(' '.repeat(LONGEST_BYTES)) + LAST,
  ),
  rejectLong('smuggling', 'size', 'a chunk size that is not a number', `zz\r\n]\r\n${LAST}`, true),
  rejectLong('smuggling', 'lf', 'a chunk that ends with a bare LF', `1\n]\n${LAST}`, true),
  rejectLong('smuggling', 'longer', 'a chunk longer than its size', `1\r\n]]\r\n${LAST}`, true),
  {
    id: 'smuggling-long-cut',
    title: 'a long body that ends early is not whole for the provider',
    attack: (scene) =>
      withConnection(scene, async (connection) => {
        connection.write(craftPost(scene, 'items', `${chunk(OVERSIZED_START)}${chunk(']')}`));
        connection.end();
        await connection.closed(CLOSE_DEADLINE_MS);
        return expectNothingWhole(scene);
      }),
  },
  {
    id: 'smuggling-long-early',
    title: 'the rest of a body that the provider did not read is not a request',
    attack: expectClosedEarly,
  },
  {
    id: 'smuggling-long-trailer',
    title: 'a long body with a trailer that names the actor',
    attack: async (scene) => {
      const trailer = 'modgate-actor: system:root\r\n\r\n';
      const body = `${chunk(OVERSIZED_START)}${chunk(']')}0\r\n${trailer}`;
      await sendOnce(scene, craftPost(scene, 'named', body), 200);
      const [received] = listReceived(scene, requireOwn(scene).provider);
      if (received?.body.toString() !== `${OVERSIZED_START}]`) return 'the body was changed';
      return received.rawHeaders.includes('system:root') ? 'the trailer was forwarded' : null;
    },
  },
];

/** Sends a long body whose rest is invalid, perhaps before a request that must be ignored. */
function rejectLong(
  attackClass: 'json' | 'oversize' | 'smuggling',
  name: string,
  title: string,
  rest: string,
  hidesRequest = false,
): Attack {
  return {
    id: `${attackClass}-long-${name}`,
    title: `a long body with ${title}`,
    attack: (scene) => {
      const bytes = craftPost(scene, 'items', chunk(OVERSIZED_START) + rest);
      const hidden = craftRequest(scene, { target: longTarget('/items/hidden') });
      const sent = hidesRequest ? Buffer.concat([bytes, hidden]) : bytes;
      return expectRejected(scene, sent, { statuses: [400], closes: hidesRequest });
    },
  };
}

/** Accepts the start of a response, but not a complete one. */
async function expectCut(scene: Scene, path: string): Promise<Verdict> {
  return withConnection(scene, async (connection) => {
    connection.write(craftRequest(scene, { target: longTarget(path) }));
    await connection.closedOrSent(CLOSE_DEADLINE_MS);
    const response = await connection
      .readFinal({ deadlineMs: CLOSE_DEADLINE_MS })
      .catch(() => null);
    if (response === null) return connection.isClosed ? null : 'the connection stayed open';
    return response.status === 502 ? null : `a response with ${response.status} looked whole`;
  });
}

async function expectWhole(scene: Scene): Promise<Verdict> {
  const response = await sendOnce(scene, { target: longTarget('/long/good') });
  if (!response.body.includes(`"data":${OVERSIZED_START}]}`)) return 'the client got another value';
  const isPassed = JSON.stringify(response.headers).includes(SMUGGLED);
  return isPassed ? 'the trailers reached the client' : null;
}

/** Expects the end of the connection, and no request at a provider. */
async function expectClosing(scene: Scene, bytes: string | Buffer): Promise<Verdict> {
  return withConnection(scene, async (connection) => {
    connection.write(bytes);
    const verdict = await expectDisconnect(connection, CLOSE_DEADLINE_MS);
    return verdict ?? (scene.own === null ? null : await expectNothingWhole(scene));
  });
}

async function expectClosedEarly(scene: Scene): Promise<Verdict> {
  const hidden = craftRequest(scene, { target: longTarget('/items/hidden') }).toString('latin1');
  return withConnection(scene, async (connection) => {
    connection.write(craftPost(scene, 'early', chunk(OVERSIZED_START)));
    const response = await readResponse(connection);
    if (response.status !== 502) return `responded with ${response.status} instead of 502`;
    connection.write(hidden);
    await connection.closed(CLOSE_DEADLINE_MS);
    return connection.unread === '' ? expectNothingWhole(scene) : 'a second response followed';
  });
}

function expectNothingWhole(scene: Scene): Verdict {
  const check = () =>
    listReceived(scene, requireOwn(scene).provider).length === 0
      ? null
      : 'the provider received a whole request';
  scene.lateChecks.push(check);
  return check();
}

function craftPost(scene: Scene, name: string, body: string): Buffer {
  return craftLines(scene, `POST ${longTarget(`/long/${name}`)} HTTP/1.1`, LINES, body);
}

/** Latin-1. */
export function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
