import { withConnection } from '../../../core/selftest/expectations.js';
import { headerValues } from '../../../core/selftest/raw-http.js';
import { craftLines } from '../../../core/selftest/request-bytes.js';
import type { Attack } from '../attack.js';
import { craftRequest } from '../expectations.js';

export const SMUGGLING_CASES: readonly Attack[] = [
  {
    id: 'smuggling-get-body',
    title: 'a request as the body of a GET',
    send: (scene) => ({ body: craftRequest(scene, { path: '/items/hidden' }) }),
    forwarded: ({ body, rawHeaders }) => {
      if (body.length > 0) return 'the body was forwarded';
      const names = rawHeaders.map((text) => text.toLowerCase());
      return names.includes('content-length') ? 'its length was forwarded' : null;
    },
  },
  {
    id: 'smuggling-trailer',
    title: 'a trailer that names the actor',
    send: (scene) =>
      craftLines(
        scene,
        `POST ${scene.base}/items HTTP/1.1`,
        ['Content-Type: application/json', 'Transfer-Encoding: chunked', 'Trailer: modgate-actor'],
        '2\r\n{}\r\n0\r\nmodgate-actor: system:root\r\n\r\n',
      ),
    forwarded: ({ rawHeaders, body }) => {
      if (rawHeaders.includes('system:root')) return 'the trailer was forwarded';
      return body.toString() === '{}' ? null : 'the body was changed';
    },
  },
  {
    id: 'smuggling-response-split',
    title: 'a provider response followed by a second one',
    attack: async (scene) => {
      const bytes = craftRequest(scene, { target: `${scene.base}/answers/split` });
      return withConnection(scene, async (connection) => {
        connection.write(Buffer.concat([bytes, craftRequest(scene)]));
        const first = await connection.readFinal();
        const second = await connection.readFinal();
        if (first.body.includes('smuggled') || second.body.includes('smuggled')) {
          return 'the second response reached a client';
        }
        return headerValues(second.headers, 'x-request-id').length === 1
          ? null
          : 'the response has no request id';
      });
    },
  },
];
