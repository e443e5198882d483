import type { Attack } from '../attack-case.js';
import { expectDisconnect, readResponse, sendOnce, withConnection } from '../expectations.js';
import { RawConnection } from '../raw-http.js';
import { craftRequest } from '../request-bytes.js';

/** The host allows 10 s for a head and checks each second. The rest is for a busy machine. */
const HEAD_DEADLINE_MS = 20_000;
/** Shorter than the time that the host allows for a head. */
const LONG_HEAD_DEADLINE_MS = 8_000;
const CONNECTIONS = 200;
const PIPELINED = 50;
/** More than a head may have. */
const ENDLESS_LINES = 'x-endless: a\r\n'.repeat(20_000);

export const SLOW_CASES: readonly Attack[] = [
  sendWithoutEnd('slow-silence', 'a connection without a request', '', ''),
  sendWithoutEnd(
    'slow-head',
    'a head that never ends',
    'GET / HTTP/1.1\r\nHost: a\r\n',
    'x: y\r\n',
  ),
  sendWithoutEnd('slow-line', 'a request line that never ends', 'GET /', 'a'),
  sendWithoutEnd(
    'oversize-head-endless',
    'a head that never ends, at once',
    `GET /livez HTTP/1.1\r\nhost: a\r\n${ENDLESS_LINES}`,
    null,
    LONG_HEAD_DEADLINE_MS,
  ),
  {
    id: 'slow-crowd',
    title: `${CONNECTIONS} connections with half a head do not block other clients`,
    attack: async (scene) => {
      const connections = await Promise.all(
        Array.from({ length: CONNECTIONS }, () => RawConnection.to(scene.address)),
      );
      try {
        for (const connection of connections) connection.write('GET / HTTP/1.1\r\nhost: a\r\n');
        await sendOnce(scene, {}, 200);
        return null;
      } finally {
        for (const connection of connections) connection.destroy();
      }
    },
  },
  {
    id: 'slow-pipeline',
    title: `${PIPELINED} pipelined requests are answered in order`,
    attack: (scene) =>
      withConnection(scene, async (connection) => {
        const ids = Array.from({ length: PIPELINED }, (_, index) => `pipe-${index}`);
        for (const id of ids) {
          connection.write(craftRequest(scene, { headers: [['x-request-id', id]] }));
        }
        for (const id of ids) {
          const { headers } = await readResponse(connection);
          if (!headers.some(([, value]) => value === id)) return `${id} has another response`;
        }
        return null;
      }),
  },
];

/** Sends a start, then more bytes without end. The host must close the connection. */
function sendWithoutEnd(
  id: string,
  title: string,
  start: string,
  more: string | null,
  deadlineMs = HEAD_DEADLINE_MS,
): Attack {
  return {
    ...{ id, title, isAnonymous: true, isSlow: true },
    attack: (scene) =>
      withConnection(scene, (connection) => {
        connection.write(start);
        return expectDisconnect(connection, deadlineMs, more);
      }),
  };
}
