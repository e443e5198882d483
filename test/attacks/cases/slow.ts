import { expectDisconnect, withConnection } from '../../../core/selftest/expectations.js';
import { craftLines } from '../../../core/selftest/request-bytes.js';
import type { Attack } from '../attack.js';
import { expectStatus } from '../expectations.js';
import type { Scene } from '../scene.js';

/** The host checks each second. The rest is for a busy machine. */
const BODY_DEADLINE_MS = 20_000;

export const SLOW_CASES: readonly Attack[] = [
  {
    id: 'slow-body',
    title: 'a body that stalls',
    isSlow: true,
    attack: (scene) =>
      withConnection(scene, (connection) => {
        connection.write(craftStart(scene));
        return expectDisconnect(connection, BODY_DEADLINE_MS);
      }),
  },
  {
    id: 'slow-abort',
    title: 'aborted bodies leave nothing behind',
    attack: async (scene) => {
      for (let index = 0; index < 50; index += 1) {
        await withConnection(scene, async (connection) => {
          connection.write(craftStart(scene, '{"a":'));
        });
      }
      return expectStatus(scene, scene.base + scene.route, 200);
    },
  },
];

function craftStart(scene: Scene, body = ''): Buffer {
  const lines = ['Content-Type: application/json', 'Content-Length: 1000'];
  return craftLines(scene, `POST ${scene.base}/items HTTP/1.1`, lines, body);
}
