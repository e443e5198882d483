import type { AttackCase } from '../attack-case.js';
import { expectForwarded, expectRejected } from '../expectations.js';
import { headerValues, RawConnection } from '../raw-http.js';
import { craftLines, craftRequest } from '../request-bytes.js';
import type { Scene } from '../scene.js';
import { EVIDENCE, REJECTED_FRAMINGS, type RejectedFraming } from './rejected-framings.js';

const JSON_TYPE = 'Content-Type: application/json';

export const SMUGGLING_CASES: readonly AttackCase[] = [
  ...REJECTED_FRAMINGS.map((framing) => ({
    ...describe(framing.name, framing.title),
    needs: 'token' as const,
    attack: (scene: Scene) =>
      expectRejected(scene, craftWithHidden(scene, framing), {
        statuses: [400, 404, 417, 431, 501, 505],
        closes: true,
      }),
  })),
  {
    ...describe('preface-2', 'the preface of HTTP/2'),
    needs: 'nothing',
    attack: (scene) =>
      expectRejected(scene, Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), {
        statuses: [400, 505],
        closes: true,
      }),
  },
  {
    ...describe('tls-hello', 'a TLS hello on a clear port'),
    needs: 'nothing',
    attack: (scene) =>
      expectRejected(scene, Buffer.from('16030100a5010000a10303', 'hex'), {
        statuses: [400],
        closes: true,
      }),
  },
  {
    ...describe('leading-space', 'a space before the first header'),
    needs: 'token',
    attack: (scene) =>
      expectRejected(
        scene,
        Buffer.from(
          `GET ${scene.base}${scene.route} HTTP/1.1\r\n Host: ${scene.authority}\r\nAuthorization: Bearer ${scene.token}\r\n\r\n`,
        ),
        { statuses: [400], closes: true },
      ),
  },
  {
    ...describe('get-body', 'a request as the body of a GET'),
    needs: 'own',
    attack: async (scene) => {
      const hidden = craftRequest(scene, { target: `${scene.base}/items/hidden` });
      const bytes = craftRequest(scene, { body: hidden });
      return expectForwarded(scene, bytes, ({ body, rawHeaders }) => {
        if (body.length > 0) return 'the body was forwarded';
        const names = rawHeaders.map((text) => text.toLowerCase());
        return names.includes('content-length') ? 'its length was forwarded' : null;
      });
    },
  },
  {
    ...describe('trailer', 'a trailer that names the actor'),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(
        scene,
        craftLines(
          scene,
          `POST ${scene.base}/items HTTP/1.1`,
          [JSON_TYPE, 'Transfer-Encoding: chunked', 'Trailer: modgate-actor'],
          '2\r\n{}\r\n0\r\nmodgate-actor: system:root\r\n\r\n',
        ),
        ({ rawHeaders, body }) => {
          if (rawHeaders.includes('system:root')) return 'the trailer was forwarded';
          return body.toString() === '{}' ? null : 'the body was changed';
        },
      ),
  },
  {
    ...describe('response-split', 'a provider response followed by a second one'),
    needs: 'own',
    attack: async (scene) => {
      const bytes = craftRequest(scene, { target: `${scene.base}/answers/split` });
      const connection = await RawConnection.open(scene.address.port, scene.address.host);
      try {
        connection.write(Buffer.concat([bytes, craftRequest(scene)]));
        const first = await connection.readFinal();
        const second = await connection.readFinal();
        if (first.body.includes('smuggled') || second.body.includes('smuggled')) {
          return 'the second response reached a client';
        }
        return headerValues(second.headers, 'x-request-id').length === 1
          ? null
          : 'the response has no request id';
      } finally {
        connection.destroy();
      }
    },
  },
];

/** Creates a request followed by one that must not be processed. */
function craftWithHidden(scene: Scene, framing: RejectedFraming): Buffer {
  const { method = 'POST', version = 'HTTP/1.1', lines, rest } = framing;
  const [path, type] = method === 'GET' ? [scene.route, []] : ['/items', [JSON_TYPE]];
  const requestLine = `${method} ${scene.base}${path} ${version}`;
  const first = craftLines(scene, requestLine, [...type, ...lines], rest);
  return Buffer.concat([first, craftRequest(scene, { target: `${scene.base}/items/hidden` })]);
}

function describe(name: string, title: string) {
  const evidence = EVIDENCE[name];
  return {
    id: `smuggling-${name}`,
    class: 'smuggling' as const,
    title,
    ...(evidence !== undefined && { evidence }),
  };
}
