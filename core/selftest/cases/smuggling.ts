import type { Attack } from '../attack-case.js';
import { craftLines, craftMark, craftRequest, joinLines } from '../request-bytes.js';
import type { Scene } from '../scene.js';
import { EVIDENCE, REJECTED_FRAMINGS, type RejectedFraming } from './rejected-framings.js';

const JSON_TYPE = 'Content-Type: application/json';

/** The first bytes of clients of other protocols. */
const OTHER_PROTOCOLS: readonly (readonly [name: string, title: string, bytes: string])[] = [
  ['preface-2', 'the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['tls-hello', 'a TLS hello on a clear port', '\x16\x03\x01\0\xa5\x01\0\0\xa1\x03\x03'],
  ['ssh', 'a greeting of SSH', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['smtp', 'a greeting of SMTP', 'EHLO evil.test\r\n'],
  ['redis', 'a command of Redis', '*1\r\n$8\r\nFLUSHALL\r\n'],
  ['proxy-1', 'the PROXY protocol', 'PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\nGET / HTTP/1.1\r\n\r\n'],
  ['proxy-2', 'the binary PROXY protocol', '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c'],
  ['version-none', 'a request without a version', 'GET /livez\r\n\r\n'],
];

export const SMUGGLING_CASES: readonly Attack[] = [
  ...REJECTED_FRAMINGS.map((framing) => ({
    ...describe(framing.name, framing.title),
    send: (scene: Scene) => craftWithHidden(scene, framing),
    rejected: [400, 404, 417, 431, 501, 505],
    closes: true,
  })),
  ...OTHER_PROTOCOLS.map(([name, title, bytes]) => ({
    ...describe(name, title),
    isAnonymous: true,
    send: Buffer.from(bytes, 'latin1'),
    rejected: [400, 505],
    closes: true,
  })),
  {
    ...describe('leading-space', 'a space before the first header'),
    rejected: 400,
    closes: true,
    send: (scene) => {
      const authorization = `Authorization: Bearer ${scene.token}`;
      const lines = [` Host: ${scene.authority}`, authorization, ...craftMark(scene)];
      return joinLines([`GET ${scene.base}${scene.route} HTTP/1.1`, ...lines]);
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
    title,
    ...(evidence !== undefined && { evidence }),
  };
}
