import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen, type WeakHost } from './weak-host.js';

interface CarelessSession {
  readonly id: string;
  readonly token: string;
}

/**
 * Starts a host whose console works, and has every weakness that the attacks look for. The browser
 * chooses the cookie, which holds the token and is readable by scripts. The cookie, its digest, its
 * id and bearer tokens count everywhere, for every origin and after the sign-out. Pages may be
 * framed and have no policy.
 */
export function startCarelessConsole(): Promise<WeakHost> {
  const sessions = new Map<string, CarelessSession>();
  const server = createServer((request, response) => {
    void readText(request).then((text) => answer(sessions, request, text, response));
  });
  return listen((socket) => server.emit('connection', socket));
}

function answer(
  sessions: Map<string, CarelessSession>,
  request: IncomingMessage,
  text: string,
  response: ServerResponse,
): void {
  const cookies = readCookies(request);
  const route = `${request.method} ${request.url}`;
  if (route === 'POST /console/api/session' || route.endsWith('/session/developer')) {
    const token = String(text === '' ? '' : JSON.parse(text).token);
    const value = cookies[0] ?? Buffer.from(`session:${token}`).toString('base64url');
    sessions.set(value, { id: `ses_${sessions.size}`, token });
    response.writeHead(204, { 'set-cookie': `modgate=${value}; Path=/` }).end();
    return;
  }
  const entry = [...sessions].find(([value, { id }]) =>
    cookies.some((cookie) => cookie === id || listForms(value).includes(cookie)),
  );
  if (route === 'GET /console/api/session' && entry === undefined) {
    response.writeHead(401, { 'www-authenticate': 'Basic' }).end('{"status":401}');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(entry?.[1] ?? {}));
}

/** The lookup of a careless store. */
function listForms(value: string): string[] {
  const encodings = ['hex', 'base64', 'base64url'] as const;
  return [
    value,
    ...encodings.map((algorithm) => createHash('sha256').update(value).digest(algorithm)),
  ];
}

function readCookies({ headers }: IncomingMessage): string[] {
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.flatMap((pair) => (pair === '' ? [] : [pair.slice(pair.indexOf('=') + 1)]));
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text.startsWith('{') ? text : '';
}
