import { setTimeout as pause } from 'node:timers/promises';
import type { Attack, Verdict } from '../../attack-case.js';
import { expectDisconnect, parseObject, sendOnce, withConnection } from '../../expectations.js';
import { OVERSIZED_START } from '../../long-body-scripts.js';
import type { RawConnection } from '../../raw-http.js';
import { craftLines, craftRequest } from '../../request-bytes.js';
import type { Scene } from '../../scene.js';
import { chunk, longTarget } from './long-bodies.js';

/** The host allows pauses of 1 s, and 1 KiB per second. The rest is for a busy machine. */
const END_DEADLINE_MS = 15_000;
const TRICKLE_MS = 400;
const POLL_MS = 200;
const FILE_LINES = ['Content-Type: image/png', 'Transfer-Encoding: chunked'];
const JSON_LINES = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
const FILE_CHUNK = chunk('x'.repeat(65_536));
/** More than the buffers of two connections hold. */
const FILE_CHUNKS = 512;

export const SLOW_BODY_CASES: readonly Attack[] = [
  describe(
    'reader',
    'a client that reads nothing of a long response',
    async (scene, connection) => {
      connection.pause();
      connection.write(craftRequest(scene, { target: longTarget('/flood/file') }));
      return (await isRecorded(scene)) ? null : 'the response stayed open';
    },
  ),
  describe('provider', 'a provider that trickles a long response', (scene, connection) => {
    connection.write(craftRequest(scene, { target: longTarget('/long/trickle') }));
    return expectDisconnect(connection, END_DEADLINE_MS);
  }),
  describe('upload', 'a long body that stops', (scene, connection) => {
    connection.write(craftStart(scene));
    return expectDisconnect(connection, END_DEADLINE_MS);
  }),
  describe('trickle', 'a long body that trickles', async (scene, connection) => {
    connection.write(craftStart(scene));
    const timer = setInterval(() => connection.write(chunk(' ')), TRICKLE_MS);
    try {
      return await expectDisconnect(connection, END_DEADLINE_MS);
    } finally {
      clearInterval(timer);
    }
  }),
  describe('unread', 'a provider that reads nothing of a file', (scene, connection) => {
    const head = craftLines(scene, `PUT ${longTarget('/flood/unread')} HTTP/1.1`, FILE_LINES);
    connection.write(head);
    for (let count = 0; count < FILE_CHUNKS; count += 1) connection.write(FILE_CHUNK);
    return expectDisconnect(connection, END_DEADLINE_MS);
  }),
];

function describe(
  name: string,
  title: string,
  attack: (scene: Scene, connection: RawConnection) => Promise<Verdict>,
): Attack {
  return {
    id: `slow-long-${name}`,
    title,
    isSlow: true,
    attack: (scene) => withConnection(scene, (connection) => attack(scene, connection)),
  };
}

function craftStart(scene: Scene): Buffer {
  const line = `POST ${longTarget('/long/slow')} HTTP/1.1`;
  return craftLines(scene, line, JSON_LINES, chunk(OVERSIZED_START));
}

/** A call is recorded when it ends. */
async function isRecorded(scene: Scene): Promise<boolean> {
  const target = `/calls?request_id=${scene.mark}`;
  for (let leftMs = END_DEADLINE_MS; leftMs > 0; leftMs -= POLL_MS) {
    const response = await sendOnce(scene, { target });
    const calls = parseObject(response.body)?.['calls'];
    if (Array.isArray(calls) && calls.length > 0) return true;
    await pause(POLL_MS);
  }
  return false;
}
