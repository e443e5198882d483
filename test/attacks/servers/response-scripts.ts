import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { answerJson } from '../../support/provider.js';
import { REJECTED_RESPONSES, STRIPPED_RESPONSES } from './raw-responses.js';
import { JSON_TYPE, respond, type Scripts, SMUGGLED } from './scripted-server.js';

const MIB = 1024 * 1024;
/** More than the buffers of a connection hold. */
export const LARGE_RESPONSE_BYTES = 12 * MIB;

/** Malicious responses of the provider. `elsewhere` is a server that must not be called. */
export function createResponseScripts(elsewhere: string, secret: string): Scripts {
  const scripts: Record<string, RequestListener> = {
    split: (_, response) => {
      const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ';
      response.socket?.write(`${head}11\r\n\r\n{"ok":true}${head}10\r\n\r\n"${SMUGGLED}"`);
    },
    refresh: (_, response) => {
      response.writeHead(200, { refresh: `0; url=${elsewhere}`, 'content-type': 'text/html' });
      response.end(`<meta http-equiv=refresh content="0; url=${elsewhere}">`);
    },
    gzip: respondEncoded('gzip', gzipSync('{"ok":true}')),
    br: respondEncoded('br', Buffer.from('0b058022', 'hex')),
    bomb: respondEncoded('gzip', gzipSync(Buffer.alloc(8 * MIB, 0x20))),
    'te-gzip': (_, response) => {
      const bytes = gzipSync('{"ok":true}');
      response.socket?.write(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: gzip, chunked\r\n\r\n',
      );
      response.socket?.write(`${bytes.length.toString(16)}\r\n`);
      response.socket?.write(bytes);
      response.socket?.end('\r\n0\r\n\r\n');
    },
    large: answerJson('a'.repeat(LARGE_RESPONSE_BYTES - 2)),
    answer: answerJson('a'.repeat(5 * MIB)),
    'answer-declared': (_, response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': 10_000_000_000 }).write('"');
    },
    'answer-head': respond(200, '{}', { 'x-long': 'a'.repeat(100_000) }),
    html: respond(200, `<h1>${secret}</h1>`, { 'content-type': 'text/html' }),
    'error-page': respond(
      500,
      JSON.stringify({ detail: secret, stack: `Error: ${secret}\n    at run (/app/run.js:1:1)` }),
    ),
    'not-json': respond(200, `{"secret":"${secret}"`),
    headers: respond(200, '{"ok":true}', {
      'set-cookie': 'a=b',
      server: 'inside/1.0',
      'x-powered-by': 'inside',
      'x-internal': secret,
      location: elsewhere,
      link: `<${elsewhere}>; rel=preload`,
    }),
    hold: () => {
      // Hangs until the deadline of the host.
    },
    'repeat-credentials': repeatCredentials(401),
    repeated: repeatCredentials(409),
    typed: ({ headers: { authorization = '' } }, response) => {
      const type = `text/${authorization.replace('Bearer ', '')}`;
      response.writeHead(200, { 'content-type': type }).end('{}');
    },
    sentence: ({ headers: { authorization = '' } }, response) => {
      const text = `the key ${authorization.replace('Bearer ', '')} has expired`;
      const body = { detail: text, errors: [{ field: 'key', message: text }] };
      response.writeHead(422, JSON_TYPE).end(JSON.stringify(body));
    },
  };
  for (const status of [301, 302, 303, 307, 308]) {
    scripts[`redirect-${status}`] = ({ headers }, response) => {
      const path = `/latest/meta-data/${headers['x-request-id']}`;
      response.writeHead(status, { location: elsewhere + path });
      response.end();
    };
  }
  for (const { name, bytes } of [...REJECTED_RESPONSES, ...STRIPPED_RESPONSES]) {
    scripts[name] = (_, response) => response.socket?.end(bytes, 'latin1');
  }
  return Object.fromEntries(
    Object.entries(scripts).map(([kind, script]) => [`/answers/${kind}`, script]),
  );
}

function respondEncoded(encoding: string, bytes: Buffer): RequestListener {
  return respond(200, bytes, { 'content-encoding': encoding });
}

function repeatCredentials(status: number): RequestListener {
  return ({ headers }, response) => {
    const body = JSON.stringify({ detail: headers.authorization });
    response.writeHead(status, JSON_TYPE).end(body);
  };
}
