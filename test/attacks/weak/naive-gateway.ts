import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { listen, type WeakHost } from './weak-host.js';

/** A head is treated as complete after this pause. */
const PATIENCE_MS = 10;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/**
 * Starts a gateway with every vulnerability of the corpus. It has no authentication, repairs paths,
 * parses heads leniently, forwards all headers and rewrites bodies. It shares cached responses,
 * checks no certificate, follows redirects and filters no response.
 * @param providers the endpoints by module
 */
export function startNaiveGateway(providers: ReadonlyMap<string, string>): Promise<WeakHost> {
  const cached = new Map<string, string>();
  return listen((socket) => {
    let received = '';
    let timer: NodeJS.Timeout | undefined;
    let turn = Promise.resolve();
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(() => {
        const text = received;
        received = '';
        for (const naiveRequest of splitRequests(text)) {
          turn = turn.then(async () => {
            if (socket.destroyed) return;
            const answer = await answerNaively(naiveRequest, providers, cached).catch(
              (error: Error) => `${error.stack}`,
            );
            socket.write(formatAnswer(answer));
          });
        }
      }, PATIENCE_MS);
    });
  });
}

/** A host that closes every connection. */
export function startRudeHost(): Promise<WeakHost> {
  return listen((socket) => socket.end());
}

/** A host that rejects everything, but a long head slowly. */
export function startSluggishHost(delayMs: number): Promise<WeakHost> {
  const body = JSON.stringify({
    ...{ type: '', title: '', status: 404, code: '', detail: '', request_id: '', errors: [] },
  });
  return listen((socket) => {
    socket.once('data', async ({ length }: Buffer) => {
      if (length > 1000) await delay(delayMs);
      socket.end(`HTTP/1.1 404 Not Found\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  });
}

/** A host that rejects every token, the later the longer its correct prefix is. */
export function startLeakingHost(token: string): Promise<WeakHost> {
  const body = JSON.stringify({ status: 401 });
  return listen((socket) => {
    socket.once('data', async (bytes) => {
      const given = /bearer (.*)/i.exec(bytes.toString('latin1'))?.[1] ?? '';
      const isNear = given.startsWith(token.slice(0, -1));
      await delay(isNear ? 20 : given.length === token.length ? 8 : 0);
      socket.end(`HTTP/1.1 401 Unauthorized\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  });
}

interface NaiveRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
}

/** Treats every line that looks like a request line as one, including those hidden in a body. */
function splitRequests(text: string): NaiveRequest[] {
  const parts = text.split(/(?=^[A-Za-z]+ \S+ HTTP\/)/m);
  return parts.map((part) => {
    const [head = '', ...rest] = part.split(/\r?\n\r?\n/);
    const [line = '', ...lines] = head.split(/[\r\n]+/);
    const [method = 'GET', target = '/'] = line.split(' ');
    const headers = lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const;
    });
    return { method, target, headers, body: rest.join('\n\n') };
  });
}

async function answerNaively(
  { method, target, headers, body }: NaiveRequest,
  providers: ReadonlyMap<string, string>,
  cached: Map<string, string>,
): Promise<string> {
  const decoded = decodeLeniently(target);
  const [, module = '', path = '/'] = /^\/modules\/([^/]+)\/http(\/.*)$/.exec(decoded) ?? [];
  // Calls any server that the request names.
  const elsewhere = /127\.0\.0\.1:\d+/.exec(decoded)?.[0];
  if (elsewhere !== undefined) await send(`http://${elsewhere}/`, 'GET', [], '').catch(() => '');
  const url = `${providers.get(module) ?? [...providers.values()][0]}${path.split('?', 1)[0]}`;
  const knownMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? method : 'GET';
  // Whoever asked first, and with whatever headers.
  const isKept = path.startsWith('/kept/');
  const before = isKept ? cached.get(target) : undefined;
  if (before !== undefined) return before;
  const answer = await send(
    url,
    knownMethod,
    headers,
    body === '' ? '' : `{"body":${JSON.stringify(body)}}`,
  );
  if (isKept) cached.set(target, answer);
  return answer;
}

function decodeLeniently(text: string): string {
  let decoded = text;
  for (let round = 0; round < 2; round += 1) {
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      break;
    }
  }
  return decoded
    .replaceAll('\\', '/')
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(' ', '+');
}

function send(
  url: string,
  method: string,
  headers: readonly (readonly [string, string])[],
  body: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const isTls = target.protocol === 'https:';
    const request = (isTls ? requestHttps : requestHttp)(
      target,
      { method, rejectUnauthorized: false, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
      (response) => {
        const { location } = response.headers;
        if (location !== undefined) send(location, 'GET', headers, '').catch(() => '');
        let text = JSON.stringify(response.headers);
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString('latin1');
          if (text.length <= 10_000) return;
          resolve(text);
          response.destroy();
        });
        response.on('end', () => resolve(text));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.setTimeout(1_000, () => request.destroy(new Error('late')));
    for (const [name, value] of headers) {
      if (!HEADER_NAME.test(name) || /^(content-length|transfer-encoding|expect)$/i.test(name))
        continue;
      request.appendHeader(name, value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''));
    }
    request.setHeader('modgate-trusted', 'yes');
    request.end(body);
  });
}

function formatAnswer(text: string): string {
  const body = JSON.stringify({ data: text });
  const lines = [
    'HTTP/1.1 200 OK',
    'server: naive/1.0',
    'content-type: text/html',
    'access-control-allow-origin: *',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
