import type { Attack, Verdict } from '../../attack-case.js';
import { expectDisconnect, sendOnce, withConnection } from '../../expectations.js';
import { RawConnection } from '../../raw-http.js';
import { craftLines, craftRequest } from '../../request-bytes.js';
import type { Scene } from '../../scene.js';

/** The host allows 10 s for a head and checks each second. The rest is for a busy machine. */
const HEAD_DEADLINE_MS = 20_000;
const CONNECTIONS = 200;
const PIPELINED = 50;

export const SLOW_CASES: readonly Attack[] = [
  attackWithoutEnd('silence', 'a connection without a request', () => '', ''),
  attackWithoutEnd(
    'head',
    'a head that never ends',
    (scene) => `GET ${scene.base} HTTP/1.1\r\nHost: a\r\n`,
    'x-a: b\r\n',
  ),
  attackWithoutEnd('line', 'a request line that never ends', () => 'GET /', 'a'),
  {
    ...attackWithoutEnd('body', 'a body that stalls', (scene) => craftStart(scene), ''),
    needs: 'own',
  },
  {
    ...describe('crowd', `${CONNECTIONS} connections with half a head do not block other clients`),
    needs: 'token',
    attack: async (scene) => {
      const { address } = scene;
      const connections = await Promise.all(
        Array.from({ length: CONNECTIONS }, () => RawConnection.to(address)),
      );
      try {
        for (const connection of connections) connection.write('GET / HTTP/1.1\r\nhost: a\r\n');
        return await expectServed(scene);
      } finally {
        for (const connection of connections) connection.destroy();
      }
    },
  },
  {
    ...describe('pipeline', `${PIPELINED} pipelined requests are answered in order`),
    needs: 'token',
    attack: async (scene) => {
      const connection = await RawConnection.to(scene.address);
      try {
        for (let index = 0; index < PIPELINED; index += 1) {
          connection.write(craftRequest(scene, { headers: [['x-request-id', `pipe-${index}`]] }));
        }
        for (let index = 0; index < PIPELINED; index += 1) {
          const { headers } = await connection.readFinal();
          if (!headers.some(([, value]) => value === `pipe-${index}`))
            return `response ${index} belongs to another request`;
        }
        return null;
      } catch (error) {
        return `not all requests were answered: ${(error as Error).message.slice(0, 100)}`;
      } finally {
        connection.destroy();
      }
    },
  },
  {
    ...describe('abort', 'aborted bodies leave nothing behind'),
    attack: async (scene) => {
      for (let index = 0; index < 50; index += 1) {
        const connection = await RawConnection.to(scene.address);
        connection.write(craftStart(scene, '{"a":'));
        connection.destroy();
      }
      return expectServed(scene);
    },
  },
];

/** Sends a start and then more bytes without end. The host must close the connection. */
function attackWithoutEnd(
  name: string,
  title: string,
  begin: (scene: Scene) => string | Buffer,
  more: string,
): Attack {
  return {
    ...describe(name, title),
    needs: 'nothing',
    isSlow: true,
    attack: (scene) =>
      withConnection(scene, async (connection) => {
        connection.write(begin(scene));
        return await expectDisconnect(connection, HEAD_DEADLINE_MS, () => more);
      }),
  };
}

function craftStart(scene: Scene, body = ''): Buffer {
  const lines = ['Content-Type: application/json', 'Content-Length: 1000'];
  return craftLines(scene, `POST ${scene.base}/items HTTP/1.1`, lines, body);
}

async function expectServed(scene: Scene): Promise<Verdict> {
  const { status } = await sendOnce(scene);
  return status === 200 ? null : `another client received ${status}`;
}

function describe(name: string, title: string) {
  return { id: `slow-${name}`, title };
}
