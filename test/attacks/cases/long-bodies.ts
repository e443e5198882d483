import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  expectDisconnect,
  parseObject,
  readResponse,
  withConnection,
} from '../../../core/selftest/expectations.js';
import type { RawConnection } from '../../../core/selftest/raw-http.js';
import { craftLines } from '../../../core/selftest/request-bytes.js';
import type { Attack, Verdict } from '../attack.js';
import { checkLate, craftRequest, expectRejected, sendOnce, waitFor } from '../expectations.js';
import { listReceived, type OwnModules, readHeader, type Scene } from '../scene.js';
import { flood, JSON_TYPE, pathOf, type Scripts, SMUGGLED } from '../servers/scripted-server.js';

/** The buffer size of the module. Bytes. */
const HELD_BYTES = 4096;
/** The maximum JSON body of the module. Bytes. */
const LONGEST_BYTES = 262_144;
const CLOSE_DEADLINE_MS = 10_000;
/** The host allows pauses of 1 s, and 1 KiB per second. The rest is for a busy machine. */
const END_DEADLINE_MS = 15_000;
const TRICKLE_MS = 400;

/** A module that streams bodies above its buffer size, with short limits. */
export const LONG_MODULES: OwnModules = {
  long: {
    limits: {
      ...{ response_bytes: LONGEST_BYTES, hold_bytes: HELD_BYTES },
      ...{ request_bytes: LONGEST_BYTES, hold_request_bytes: HELD_BYTES },
      ...{ body_idle_ms: 1000, concurrency: 64 },
    },
    routes: [
      ['GET', '/long/{kind}'],
      ['POST', '/long/{kind}'],
      ['GET', '/bytes/{kind}', { response: 'bytes', response_max_bytes: LONGEST_BYTES }],
      ['GET', '/flood/{kind}', { response: 'bytes' }],
      ['PUT', '/flood/{kind}', { body: 'bytes' }],
    ].map(([method, path, operation = {}]) => ({
      ...{ method, path, operation, capability: 'shop.use' },
    })),
  },
};

/** The start of a JSON array that exceeds the buffer of the module. */
const START = `["${'x'.repeat(3 * HELD_BYTES)}"`;
const LAST = '0\r\n\r\n';
const SPACES = chunk(' '.repeat(LONGEST_BYTES));
/** More than the head of a request may have. */
const ENDLESS_LINES = 'x-endless: a\r\n'.repeat(20_000);
const HEAD_LINES = (type: string) => [`Content-Type: ${type}`, 'Transfer-Encoding: chunked'];

/** Latin-1. */
function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** A response that becomes invalid after its head was forwarded; `rest` is latin-1, before the close. */
type TurningResponse = readonly [name: string, title: string, rest: string];

/** No client may consider one of them complete. */
const TURNING: readonly TurningResponse[] = [
  ['late', 'a long response with text after its value', chunk(']x') + LAST],
  ['open', 'a long response that is not closed', chunk(',1') + LAST],
  ['two', 'a long response with two values', chunk(`]["${SMUGGLED}"]`) + LAST],
  ['utf8', 'a long response that stops being UTF-8', chunk(',"\xff"]') + LAST],
  ['cut', 'a long response without its last chunk', chunk(']')],
  ['size', 'a long response with a chunk size that is not a number', `${chunk(']')}zz\r\n`],
  ['over', 'a long response beyond the limit', SPACES + chunk(']') + LAST],
  ['trailers', 'a long response with endless trailers', `${chunk(']')}0\r\n${ENDLESS_LINES}`],
  ['bytes-cut', 'a file without its last chunk', chunk('end')],
  ['bytes-over', 'a file beyond the limit', SPACES + LAST],
];
/** Send the rests of responses, by the mark of their attack. */
const turns = new Map<string, () => void>();
const turningPath = (name: string) =>
  name.startsWith('bytes-') ? name.replace('bytes-', '/bytes/') : `/long/${name}`;

export const LONG_SCRIPTS: Scripts = {
  ...Object.fromEntries(
    TURNING.map(([name, , rest]) => [
      turningPath(name),
      ({ headers }, response) => {
        const type = name.startsWith('bytes-') ? 'image/png' : 'application/json';
        response.writeHead(200, { 'content-type': type }).write(START);
        turns.set(`${headers['x-request-id']}`, () => response.socket?.end(rest, 'latin1'));
      },
    ]),
  ),
  '/long/good': (_, response) => {
    response.writeHead(200, { ...JSON_TYPE, trailer: 'set-cookie' }).write(START);
    response.addTrailers({ 'set-cookie': SMUGGLED });
    response.end(']');
  },
  '/long/head': (_, response) =>
    void response.socket?.write(`HTTP/1.1 200 OK\r\n${ENDLESS_LINES}`, 'latin1'),
  '/long/trickle': (_, response) => {
    response.writeHead(200, JSON_TYPE).write(START);
    const timer = setInterval(() => response.write(' '), TRICKLE_MS);
    response.once('close', () => clearInterval(timer));
  },
  '/flood/file': (_, response) =>
    flood(response.writeHead(200, { 'content-type': 'image/png' }), Buffer.alloc(65_536, 1)),
};

/** Handles requests whose body the provider does not read. */
export function answerLongHead(request: IncomingMessage, response: ServerResponse): boolean {
  const path = pathOf(request);
  if (path === '/long/early') response.writeHead(413, JSON_TYPE).end('{"too":"long"}');
  else if (path === '/flood/unread') request.pause();
  else return false;
  request.on('error', () => {});
  return true;
}

const longTarget = (path: string) => `/modules/long/http${path}`;

/** Bodies that exceed the buffer: their ends are validated after their starts were forwarded. */
export const LONG_BODY_CASES: readonly Attack[] = [
  ...TURNING.map(
    ([name, title]): Attack => ({
      id: `response-long-${name}`,
      title,
      attack: (scene) => expectCut(scene, turningPath(name)),
    }),
  ),
  {
    id: 'response-long-good',
    title: 'a long response is forwarded, without its trailers',
    attack: async (scene) => {
      const { headers, body } = await sendOnce(scene, { target: longTarget('/long/good') });
      if (!body.includes(`"data":${START}]}`)) return 'the client got another value';
      const isPassed = JSON.stringify(headers).includes(SMUGGLED);
      return isPassed ? 'the trailers reached the client' : null;
    },
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
    id: 'oversize-long-trailers',
    title: 'a long body whose trailers never end',
    isSlow: true,
    attack: (scene) =>
      withConnection(scene, async (connection) => {
        connection.write(craftPost(scene, 'items', `${chunk(']')}0\r\n${ENDLESS_LINES}`));
        const verdict = await expectDisconnect(connection, CLOSE_DEADLINE_MS);
        return verdict ?? expectNothingWhole(scene);
      }),
  },
  rejectLong('json', 'late', 'text after the value', chunk(']x') + LAST),
  rejectLong('json', 'open', 'an unclosed array', LAST),
  rejectLong('json', 'two', 'two values', chunk(']{"a":1}') + LAST),
  rejectLong('json', 'utf8', 'invalid UTF-8', chunk(',"\xff"]') + LAST),
  rejectLong('oversize', 'body', 'a length beyond the limit', SPACES + LAST),
  rejectLong('smuggling', 'size', 'a chunk size that is not a number', `zz\r\n]\r\n${LAST}`),
  rejectLong('smuggling', 'lf', 'a chunk that ends with a bare LF', `1\n]\n${LAST}`),
  rejectLong('smuggling', 'longer', 'a chunk longer than its size', `1\r\n]]\r\n${LAST}`),
  {
    id: 'smuggling-long-cut',
    title: 'a long body that ends early is not whole for the provider',
    attack: (scene) =>
      withConnection(scene, async (connection) => {
        connection.write(craftPost(scene, 'items', chunk(']')));
        connection.end();
        await connection.closed(CLOSE_DEADLINE_MS);
        return expectNothingWhole(scene);
      }),
  },
  {
    id: 'smuggling-long-early',
    title: 'the rest of a body that the provider did not read is not a request',
    attack: (scene) =>
      withConnection(scene, async (connection) => {
        connection.write(craftPost(scene, 'early', ''));
        const { status } = await readResponse(connection);
        if (status !== 502) return `responded with ${status} instead of 502`;
        connection.write(craftHidden(scene));
        await connection.closed(CLOSE_DEADLINE_MS);
        return connection.unread === '' ? expectNothingWhole(scene) : 'a second response followed';
      }),
  },
  {
    id: 'smuggling-long-trailer',
    title: 'a long body with a trailer that names the actor',
    attack: async (scene) => {
      const rest = `${chunk(']')}0\r\nmodgate-actor: system:root\r\n\r\n`;
      await sendOnce(scene, craftPost(scene, 'named', rest), 200);
      const [received] = listReceived(scene, scene.provider);
      if (received?.body.toString() !== `${START}]`) return 'the body was changed';
      const isForwarded = readHeader(received, 'modgate-actor').includes('system:root');
      return isForwarded ? 'the trailer was forwarded' : null;
    },
  },
  wait('reader', 'a client that reads nothing of a long response', async (scene, connection) => {
    connection.pause();
    connection.write(craftRequest(scene, { target: longTarget('/flood/file') }));
    await waitFor('the response stayed open', END_DEADLINE_MS, async () => {
      const response = await sendOnce(scene, { target: `/calls?request_id=${scene.mark}` });
      const calls = parseObject(response.body)?.['calls'];
      // A call is recorded when it ends.
      return Array.isArray(calls) && calls.length > 0 ? calls : null;
    });
    return null;
  }),
  wait('provider', 'a provider that trickles a long response', (scene, connection) => {
    connection.write(craftRequest(scene, { target: longTarget('/long/trickle') }));
    return expectDisconnect(connection, END_DEADLINE_MS);
  }),
  wait('upload', 'a long body that stops', (scene, connection) => {
    connection.write(craftPost(scene, 'slow', ''));
    return expectDisconnect(connection, END_DEADLINE_MS);
  }),
  wait('trickle', 'a long body that trickles', (scene, connection) => {
    connection.write(craftPost(scene, 'slow', ''));
    return expectDisconnect(connection, END_DEADLINE_MS, chunk(' '));
  }),
  wait('unread', 'a provider that reads nothing of a file', (scene, connection) => {
    const line = `PUT ${longTarget('/flood/unread')} HTTP/1.1`;
    connection.write(craftLines(scene, line, HEAD_LINES('image/png')));
    // More than the buffers of two connections hold.
    connection.write(chunk('x'.repeat(65_536)).repeat(512));
    return expectDisconnect(connection, END_DEADLINE_MS);
  }),
];

/** Sends a long body whose rest is invalid, for an ambiguous framing before a request that must be ignored. */
function rejectLong(
  attackClass: 'json' | 'oversize' | 'smuggling',
  name: string,
  title: string,
  rest: string,
): Attack {
  return {
    id: `${attackClass}-long-${name}`,
    title: `a long body with ${title}`,
    attack: (scene) => {
      const bytes = craftPost(scene, 'items', rest);
      if (attackClass !== 'smuggling') return expectRejected(scene, bytes, [400]);
      return expectRejected(scene, Buffer.concat([bytes, craftHidden(scene)]), [400], true);
    },
  };
}

function wait(
  name: string,
  title: string,
  attack: (scene: Scene, connection: RawConnection) => Promise<Verdict>,
): Attack {
  return {
    ...{ id: `slow-long-${name}`, title, isSlow: true },
    attack: (scene) => withConnection(scene, (connection) => attack(scene, connection)),
  };
}

/** Accepts the start of a response, but not a complete one. */
async function expectCut(scene: Scene, path: string): Promise<Verdict> {
  return withConnection(scene, async (connection) => {
    connection.write(craftRequest(scene, { target: longTarget(path) }));
    // The host has forwarded the start.
    await connection.closedOrSent(CLOSE_DEADLINE_MS);
    turns.get(scene.mark)?.();
    const response = await connection
      .readFinal({ deadlineMs: CLOSE_DEADLINE_MS })
      .catch(() => null);
    if (response === null) return connection.isClosed ? null : 'the connection stayed open';
    return response.status === 502 ? null : `a response with ${response.status} looked whole`;
  });
}

function expectNothingWhole(scene: Scene): Verdict {
  return checkLate(scene, () => {
    const isWhole = listReceived(scene, scene.provider).length > 0;
    return isWhole ? 'the provider received a whole request' : null;
  });
}

/** Sends the start of a long body, and these chunks. */
function craftPost(scene: Scene, name: string, rest: string): Buffer {
  const line = `POST ${longTarget(`/long/${name}`)} HTTP/1.1`;
  return craftLines(scene, line, HEAD_LINES('application/json'), chunk(START) + rest);
}

function craftHidden(scene: Scene): Buffer {
  return craftRequest(scene, { target: longTarget('/items/hidden') });
}
