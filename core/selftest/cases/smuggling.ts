import type { AttackCase } from '../attack-case.js';
import { judgeForwarded, judgeRefusal } from '../judge.js';
import { headerValues, RawConnection } from '../raw-http.js';
import { craftLines, craftRequest } from '../request-bytes.js';
import type { Scene } from '../scene.js';

interface Row {
  readonly name: string;
  readonly title: string;
  readonly evidence?: string;
  /** Default `POST`. */
  readonly method?: string;
  /** Default `HTTP/1.1`. */
  readonly version?: string;
  readonly lines: readonly string[];
  readonly rest?: string;
}

const JSON_TYPE = 'Content-Type: application/json';
const LLHTTP = 'llhttp CVE-2021-22959';

/** Each is refused with the connection; the request hidden behind it is answered by nobody. */
const REFUSED: readonly Row[] = [
  {
    name: 'cl-te',
    title: 'a length and chunks',
    evidence: LLHTTP,
    lines: [JSON_TYPE, 'Content-Length: 5', 'Transfer-Encoding: chunked'],
    rest: '0\r\n\r\n',
  },
  {
    name: 'te-cl',
    title: 'chunks and a length',
    evidence: LLHTTP,
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked', 'Content-Length: 5'],
    rest: '0\r\n\r\n',
  },
  {
    name: 'cl-cl',
    title: 'two lengths that differ',
    evidence: 'undici CVE-2026-1525',
    lines: [JSON_TYPE, 'Content-Length: 2', 'Content-Length: 3'],
    rest: '{}',
  },
  {
    name: 'cl-cl-same',
    title: 'two lengths that agree',
    lines: [JSON_TYPE, 'Content-Length: 2', 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'cl-list',
    title: 'a list of lengths',
    lines: [JSON_TYPE, 'Content-Length: 2, 2'],
    rest: '{}',
  },
  {
    name: 'cl-plus',
    title: 'a length with a sign',
    lines: [JSON_TYPE, 'Content-Length: +2'],
    rest: '{}',
  },
  {
    name: 'cl-minus',
    title: 'a negative length',
    lines: [JSON_TYPE, 'Content-Length: -2'],
    rest: '{}',
  },
  {
    name: 'cl-hex',
    title: 'a length in hex',
    lines: [JSON_TYPE, 'Content-Length: 0x2'],
    rest: '{}',
  },
  { name: 'cl-empty', title: 'an empty length', lines: [JSON_TYPE, 'Content-Length:'], rest: '{}' },
  {
    name: 'cl-words',
    title: 'a length of two words',
    lines: [JSON_TYPE, 'Content-Length: 2 2'],
    rest: '{}',
  },
  {
    name: 'cl-huge',
    title: 'a length beyond 64 bits',
    lines: [JSON_TYPE, 'Content-Length: 18446744073709551618'],
    rest: '{}',
  },
  {
    name: 'te-identity',
    title: 'the coding identity',
    lines: [JSON_TYPE, 'Transfer-Encoding: identity'],
    rest: '{}',
  },
  {
    name: 'te-unknown',
    title: 'an unknown coding',
    lines: [JSON_TYPE, 'Transfer-Encoding: xchunked'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-chunked-identity',
    title: 'chunks that are not the last coding',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked, identity'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-twice',
    title: 'chunks and another coding in two headers',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-gzip',
    title: 'a compressing coding',
    lines: [JSON_TYPE, 'Transfer-Encoding: gzip, chunked'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-tab',
    title: 'a coding behind a vertical tab',
    lines: [JSON_TYPE, 'Transfer-Encoding: \vchunked'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-quoted',
    title: 'a quoted coding',
    lines: [JSON_TYPE, 'Transfer-Encoding: "chunked"'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-space-name',
    title: 'a space before the colon',
    evidence: LLHTTP,
    lines: [JSON_TYPE, 'Transfer-Encoding : chunked'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-tab-name',
    title: 'a tab before the colon',
    lines: [JSON_TYPE, 'Transfer-Encoding\t: chunked'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'te-1.0',
    title: 'chunks in HTTP/1.0',
    version: 'HTTP/1.0',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'obs-fold',
    title: 'a folded header',
    lines: [JSON_TYPE, 'X-A: b', ' Transfer-Encoding: chunked'],
    rest: '',
  },
  {
    name: 'obs-fold-te',
    title: 'a folded coding',
    lines: [JSON_TYPE, 'Transfer-Encoding:', ' chunked'],
    rest: '2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'bare-lf',
    title: 'a header ended by a bare LF',
    lines: [JSON_TYPE, 'X-A: b\nContent-Length: 2'],
    rest: '{}',
  },
  {
    name: 'bare-cr',
    title: 'a bare CR within a header',
    lines: [JSON_TYPE, 'X-A: b\rContent-Length: 2'],
    rest: '{}',
  },
  {
    name: 'nul-header',
    title: 'a NUL within a header',
    lines: [JSON_TYPE, 'X-A: b\0c', 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'space-in-name',
    title: 'a space within a name',
    lines: [JSON_TYPE, 'X A: b', 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'no-name',
    title: 'a header without a name',
    lines: [JSON_TYPE, ': b', 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'no-colon',
    title: 'a header without a colon',
    lines: [JSON_TYPE, 'X-A', 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'high-name',
    title: 'a name beyond ASCII',
    lines: [JSON_TYPE, 'X-\xc3\xa9: b', 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'chunk-size-hex',
    title: 'a chunk size with 0x',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '0x2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'chunk-size-negative',
    title: 'a negative chunk size',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '-2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'chunk-size-huge',
    title: 'a chunk size beyond 64 bits',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '10000000000000002\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'chunk-size-space',
    title: 'a chunk size behind a space',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: ' 2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'chunk-size-underscore',
    title: 'a chunk size with an underscore',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '0_2\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'chunk-lf',
    title: 'a chunk size ended by a bare LF',
    evidence: LLHTTP,
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '2\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'chunk-extension-lf',
    title: 'a chunk extension with a bare LF',
    evidence: LLHTTP,
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '2;a\nb\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'chunk-no-end',
    title: 'a chunk that runs into the next',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '2\r\n{}0\r\n\r\n',
  },
  {
    name: 'chunk-long',
    title: 'a chunk longer than its size',
    lines: [JSON_TYPE, 'Transfer-Encoding: chunked'],
    rest: '1\r\n{}\r\n0\r\n\r\n',
  },
  {
    name: 'version-0.9',
    title: 'HTTP/0.9',
    version: 'HTTP/0.9',
    lines: [JSON_TYPE, 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'version-1.2',
    title: 'HTTP/1.2',
    version: 'HTTP/1.2',
    lines: [JSON_TYPE, 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'version-2',
    title: 'HTTP/2.0 in the form of HTTP/1',
    version: 'HTTP/2.0',
    lines: [JSON_TYPE, 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'version-case',
    title: 'the protocol in lower case',
    version: 'http/1.1',
    lines: [JSON_TYPE, 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'version-extra',
    title: 'more behind the version',
    version: 'HTTP/1.1 x',
    lines: [JSON_TYPE, 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'method-case',
    title: 'a method in lower case',
    method: 'post',
    lines: [JSON_TYPE, 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'method-unknown',
    title: 'an unknown method',
    method: 'SMUGGLE',
    lines: [JSON_TYPE, 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'connection-length',
    title: 'a length that the connection disowns',
    evidence: 'Traefik CVE-2024-45410',
    lines: [JSON_TYPE, 'Connection: content-length', 'Content-Length: 2'],
    rest: '{}',
  },
  {
    name: 'get-te-unknown',
    title: 'a GET with an unknown coding',
    method: 'GET',
    lines: ['Transfer-Encoding: xchunked'],
    rest: '0\r\n\r\n',
  },
  {
    name: 'get-cl-te',
    title: 'a GET with a length and chunks',
    method: 'GET',
    lines: ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    rest: '0\r\n\r\n',
  },
];

export const SMUGGLING_CASES: readonly AttackCase[] = [
  ...REFUSED.map((row) => ({
    ...describe(row.name, row.title, row.evidence),
    needs: 'token' as const,
    attack: (scene: Scene) =>
      judgeRefusal(scene, craftWithHidden(scene, row), {
        statuses: [400, 404, 417, 431, 501, 505],
        closes: true,
      }),
  })),
  {
    ...describe('preface-2', 'the preface of HTTP/2'),
    needs: 'nothing',
    attack: (scene) =>
      judgeRefusal(scene, Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), {
        statuses: [400, 505],
        closes: true,
      }),
  },
  {
    ...describe('tls-hello', 'a TLS hello on a clear port'),
    needs: 'nothing',
    attack: (scene) =>
      judgeRefusal(scene, Buffer.from('16030100a5010000a10303', 'hex'), {
        statuses: [400],
        closes: true,
      }),
  },
  {
    ...describe('leading-space', 'a space before the first header'),
    needs: 'token',
    attack: (scene) =>
      judgeRefusal(
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
      return judgeForwarded(scene, bytes, ({ body, rawHeaders }) => {
        if (body.length > 0) return 'the body was handed on';
        const names = rawHeaders.map((text) => text.toLowerCase());
        return names.includes('content-length') ? 'its length was handed on' : null;
      });
    },
  },
  {
    ...describe('trailer', 'a trailer that names the actor'),
    needs: 'own',
    attack: (scene) =>
      judgeForwarded(
        scene,
        craftLines(
          scene,
          `POST ${scene.base}/items HTTP/1.1`,
          [JSON_TYPE, 'Transfer-Encoding: chunked', 'Trailer: modgate-actor'],
          '2\r\n{}\r\n0\r\nmodgate-actor: system:root\r\n\r\n',
        ),
        ({ rawHeaders, body }) => {
          if (rawHeaders.includes('system:root')) return 'the trailer was handed on';
          return body.toString() === '{}' ? null : 'the body was changed';
        },
      ),
  },
  {
    ...describe('response-split', 'an answer of the provider with a second one behind it'),
    needs: 'own',
    attack: async (scene) => {
      const bytes = craftRequest(scene, { target: `${scene.base}/answers/split` });
      const connection = await RawConnection.open(scene.address.port, scene.address.host);
      try {
        connection.write(Buffer.concat([bytes, craftRequest(scene)]));
        const first = await connection.readFinal();
        const second = await connection.readFinal();
        if (first.body.includes('smuggled') || second.body.includes('smuggled')) {
          return 'the second answer reached a caller';
        }
        return headerValues(second.headers, 'x-request-id').length === 1 ? null : 'no id';
      } finally {
        connection.destroy();
      }
    },
  },
];

/** The request of the row, and behind it one that must stay unheard. */
function craftWithHidden(scene: Scene, row: Row): Buffer {
  const { method = 'POST', version = 'HTTP/1.1', lines, rest = '' } = row;
  const path = method === 'GET' ? scene.route : '/items';
  const first = craftLines(scene, `${method} ${scene.base}${path} ${version}`, lines, rest);
  return Buffer.concat([first, craftRequest(scene, { target: `${scene.base}/items/hidden` })]);
}

function describe(name: string, title: string, evidence?: string) {
  return {
    id: `smuggling-${name}`,
    class: 'smuggling' as const,
    title,
    ...(evidence !== undefined && { evidence }),
  };
}
