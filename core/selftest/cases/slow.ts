import type { AttackCase, Verdict } from '../attack-case.js';
import { sendOnce } from '../expectations.js';
import { RawConnection } from '../raw-http.js';
import { craftLines, craftRequest } from '../request-bytes.js';
import type { Scene } from '../scene.js';

/** A head has 10 s and a check each second; the rest is for a machine that is busy. */
const HEAD_DEADLINE_MS = 20_000;
const TRICKLE_MS = 500;
const CROWD = 200;
const PIPELINED = 50;

export const SLOW_CASES: readonly AttackCase[] = [
  cut(
    'silence',
    'a connection that says nothing',
    () => '',
    () => '',
  ),
  cut(
    'head',
    'a head that never ends',
    (scene) => `GET ${scene.base} HTTP/1.1\r\nHost: a\r\n`,
    () => 'x-a: b\r\n',
  ),
  cut(
    'line',
    'a request line that never ends',
    () => 'GET /',
    () => 'a',
  ),
  {
    ...cut(
      'body',
      'a body that stands still',
      (scene) =>
        craftLines(scene, `POST ${scene.base}/items HTTP/1.1`, [
          'Content-Type: application/json',
          'Content-Length: 1000',
        ]).toString('latin1'),
      () => '',
    ),
    needs: 'own',
  },
  {
    ...describe('crowd', `${CROWD} connections that say half a head keep nobody out`),
    needs: 'token',
    attack: async (scene) => {
      const { address } = scene;
      const crowd = await Promise.all(
        Array.from({ length: CROWD }, () => RawConnection.open(address.port, address.host)),
      );
      try {
        for (const one of crowd) one.write('GET / HTTP/1.1\r\nhost: a\r\n');
        return await expectServed(scene);
      } finally {
        for (const one of crowd) one.destroy();
      }
    },
  },
  {
    ...describe('pipeline', `${PIPELINED} requests at once are answered in order`),
    needs: 'token',
    attack: async (scene) => {
      const connection = await RawConnection.open(scene.address.port, scene.address.host);
      try {
        for (let index = 0; index < PIPELINED; index += 1) {
          connection.write(craftRequest(scene, { headers: [['x-request-id', `pipe-${index}`]] }));
        }
        for (let index = 0; index < PIPELINED; index += 1) {
          const { headers } = await connection.readFinal();
          if (!headers.some(([, value]) => value === `pipe-${index}`))
            return `answer ${index} is another's`;
        }
        return null;
      } catch (error) {
        return `not all were answered: ${(error as Error).message.slice(0, 100)}`;
      } finally {
        connection.destroy();
      }
    },
  },
  {
    ...describe('abort', 'bodies that are cut off half-way leave nothing behind'),
    needs: 'own',
    attack: async (scene) => {
      const lines = ['Content-Type: application/json', 'Content-Length: 1000'];
      for (let index = 0; index < 50; index += 1) {
        const connection = await RawConnection.open(scene.address.port, scene.address.host);
        connection.write(craftLines(scene, `POST ${scene.base}/items HTTP/1.1`, lines, '{"a":'));
        connection.destroy();
      }
      return expectServed(scene);
    },
  },
];

/** Sends a start and then ever more: the host must end the connection. */
function cut(
  name: string,
  title: string,
  begin: (scene: Scene) => string,
  more: () => string,
): AttackCase {
  return {
    ...describe(name, title),
    needs: 'nothing',
    isSlow: true,
    attack: async (scene) => {
      const connection = await RawConnection.open(scene.address.port, scene.address.host);
      connection.write(begin(scene));
      const timer = setInterval(() => connection.write(more()), TRICKLE_MS);
      try {
        await connection.closed(HEAD_DEADLINE_MS);
        return null;
      } catch {
        return 'the connection stayed open';
      } finally {
        clearInterval(timer);
        connection.destroy();
      }
    },
  };
}

async function expectServed(scene: Scene): Promise<Verdict> {
  const answer = await sendOnce(scene, craftRequest(scene));
  if (typeof answer === 'string') return `another caller: ${answer}`;
  return answer.status === 200 ? null : `another caller got ${answer.status}`;
}

function describe(name: string, title: string) {
  return { id: `slow-${name}`, class: 'slow' as const, title };
}
