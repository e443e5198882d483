import { connect, type Socket } from 'node:net';
import { SERVICE_WEAKNESSES } from './service-weaknesses.js';
import { listen, type WeakHost } from './weak-host.js';
import { AGENT_WEAKNESSES } from './weakened-agents.js';
import { BODY_WEAKNESSES } from './weakened-bodies.js';
import { WEAKENED_WEBSOCKETS } from './weakened-websockets.js';
import { changeBody, exchange, formatOk, type Surroundings, type Weakness } from './weakness.js';

const TRIPPING_FAILURES = 5;
const REPEATED = /"a":1,"a":2|"b":1,"\\u0062":2/;
/** Granted permissions of the module `desk` that do not write its configuration. */
const OTHERS = /desk\.(?:values|sync)|shop\.use/;
const CALLBACK = /^GET \/console\/api\/oidc\/callback\S*\?code=([^&]+)/;
const UPGRADE = /^(?:connection: upgrade|upgrade:|http2-settings:).*\r\n/gim;

/** One weakness each. The first one has none: a proxy alone changes no result. */
const WEAKNESSES: Readonly<Record<string, (ports: Surroundings) => Weakness>> = {
  'is not weakened': () => ({}),
  ...BODY_WEAKNESSES,
  ...WEAKENED_WEBSOCKETS,
  ...SERVICE_WEAKNESSES,
  'reads without a bound': () => ({ isGreedy: true }),
  'ignores Upgrade': () => ({ changeRequest: (text) => text.replaceAll(UPGRADE, '') }),
  'has one circuit breaker for all routes': createTripping,
  'asks the issuer about every token': ({ introspection }) => ({
    respond: async (text) => {
      const token = /^authorization: bearer ((?:random-|iss_).*)\r$/im.exec(text)?.[1];
      if (token === undefined) return null;
      const head = `POST /introspect HTTP/1.0\r\ncontent-length: ${token.length + 6}\r\n\r\n`;
      await exchange(introspection, `${head}token=${token}`);
      return null;
    },
  }),
  'takes a closed connection for the end of a response': ({ provider }) => ({
    respond: async (text) => {
      if (!text.includes('/answers/cut-unknown ')) return null;
      await exchange(provider, 'GET /answers/cut-unknown HTTP/1.1\r\nhost: a\r\n\r\n');
      return formatOk('{"data":{"ok":true}}');
    },
  }),
  'repeats a context without a bound': () => ({
    respond: async (text) =>
      text.includes('"target":"selftest"') ? formatOk('{"data":[]}') : null,
  }),
  'answers errors first': () => ({
    respond: async (text) =>
      /CONNECT a:1|\0 garbage/.test(text) ? formatOk('').replace('200 OK', '501 No') : null,
  }),
  'shows metrics under any name': () => ({
    respond: async (text) =>
      /^GET \/metrics [^\r]*\r\nhost: evil\.test/.test(text) ? formatOk('') : null,
  }),
  'explains without a limit': () => ({
    changeResponse: (text) => changeLimited(text, 'guard-explain-guess', '200 OK'),
  }),
  'takes a proxy for a client': () => ({
    respond: async (text) =>
      /^GET \/metrics .*\r\nx-forwarded-for: /s.test(text) ? formatOk('') : null,
  }),
  'reads any body': () => ({
    respond: async (text) =>
      /^POST \/(?:docs|console)\b.*\r\ncontent-length: 1048576\r\n/s.test(text)
        ? 'HTTP/1.1 100 Continue\r\n\r\n'
        : null,
  }),
  'ignores a final slash': () => ({
    changeRequest: (text) => text.replace(/^(GET \S+\/reports)\/ /, '$1 '),
  }),
  'lets a mixed segment stand for its neighbors': () => ({
    changeRequest: (text) => text.replace(/^(GET \S+\/docs\/)\S*secret\.json /, '$1other.json '),
  }),
  'forwards any encoded character': () => ({
    changeRequest: (text) => text.replace(/^(GET \S+\/queues\/)\S*(?:%3b|\.\.|%25)\S* /i, '$1%2f '),
  }),
  'decodes a path before it looks for mounts': () => ({
    changeRequest: (text) =>
      text.replace(
        /^GET \/(?:%73helf|shelf%2f|\/shelf|SHELF|shelf;a|a\/\.\.\/shelf|shelf\/\.\.|shelf\/%2e%2e)\/?\S* /,
        (line) => (line.startsWith('GET /shelf/items ') ? line : 'GET /shelf/items '),
      ),
  }),
  'finds mounts by any header': () => ({
    changeRequest: (text) =>
      /^x-forwarded-host: /m.test(text)
        ? text.replace(/^host: .*\r$/m, 'host: shelf.selftest.test\r')
        : text,
  }),
  'finds mounts by a part of the host': () => ({
    changeRequest: (text) => {
      const isNamed = /^(?:GET http:\/\/|host: .*)\S*shelf\.selftest\.test/m.test(text);
      if (!isNamed || /^GET \/(?:modules|metrics)/.test(text)) return text;
      return text
        .replace(/^GET http:\/\/[^/]+/, 'GET ')
        .replace(/^host: .*\r$/m, 'host: shelf.selftest.test\r');
    },
  }),
  'needs no capability below a mount': () => ({
    changeRequest: (text) => text.replace(/^GET \/shelf\/locked /, 'GET /shelf/items '),
  }),
  'keeps its own routes under every name': () => ({
    changeRequest: (text) =>
      /^GET \/(?:modules|metrics)/.test(text)
        ? text.replace(/^host: shelf\.selftest\.test\r$/m, 'host: 127.0.0.1\r')
        : text,
  }),
  'lets a module take any path': () => ({
    changeRequest: (text) => text.replace(/^GET \/audit /, 'GET /shelf/items '),
  }),
  'serves RTSP': () => ({
    respond: async (text) => (/^GET \S+ RTSP\/1\.0\r\n/.test(text) ? formatOk('{}') : null),
  }),
  'keeps the last of two members': () => ({
    changeRequest: (text) =>
      changeBody(text, (body) => (REPEATED.test(body) ? JSON.stringify(JSON.parse(body)) : body)),
  }),
  'opens configuration to every capability': () => ({
    changeRequest: (text) =>
      text.includes('"operation":"config_')
        ? changeBody(text, (body) => body.replace(OTHERS, 'desk.config')).replace(
            OTHERS,
            'desk.config',
          )
        : text,
  }),
  'checks no addresses': () => ({
    changeRequest: (text) => text.replace('/modules/fenced/', '/modules/shop/'),
  }),
  'opens a module where one route is public': () => ({
    respond: async (text) => {
      const isOpened =
        /^\S+ \/modules\/(?:open|shop)\/http\/(?:public|items|console-bridge\S*) HTTP/;
      const isKnown = /^authorization: Bearer (?!wrong)|^modgate-actor: /im.test(text);
      return isOpened.test(text) && !isKnown ? formatOk('{}') : null;
    },
  }),
  'counts no wrong credentials': () => ({
    changeResponse: (text) => changeLimited(text, 'guard-failures', '401 Unauthorized'),
  }),
  'counts no requests of an actor': () => ({
    changeResponse: (text) => changeLimited(text, 'neighbors-actor-rate', '403 Forbidden'),
  }),
  'checks bodies on its event loop': createHolding,
  'takes any answer of an issuer': () => ({
    respond: async (text) =>
      CALLBACK.test(text)
        ? 'HTTP/1.1 302 Found\r\nset-cookie: modgate=a\r\ncontent-length: 0\r\n\r\n'
        : null,
  }),
  'exchanges a code again': ({ issuer }) => ({
    respond: async (text) => {
      const code = CALLBACK.exec(text)?.[1];
      if (code === undefined) return null;
      const head = `POST /token HTTP/1.0\r\ncontent-length: ${code.length + 5}\r\n\r\n`;
      await exchange(issuer, `${head}code=${code}`);
      return null;
    },
  }),
  'lets any number wait for an issuer': () => ({
    respond: async (text) =>
      /^GET \/console\/api\/oidc\/start\?issuer=\S*slow /.test(text)
        ? formatOk('').replace('200 OK', '503 Unavailable')
        : null,
  }),
  'masks nothing': ({ secret }) => ({
    changeResponse: (text) => changeBody(text, (body) => body.replaceAll('[redacted]', secret)),
  }),
  'shows surfaces every header': () => ({
    respond: async (text) => (text.startsWith('GET /echo ') ? formatOk(text) : null),
  }),
  'keeps one response for all callers': () => createKeeping('own'),
  'keeps one response for all headers': () => createKeeping('shared'),
  'takes any release': () => ({
    respond: async (text) =>
      /^POST \/releases /.test(text) && !text.includes('x-request-id: release-replayed.')
        ? formatOk('{"release":null,"outcome":"active"}')
        : null,
  }),
  'ignores the base of a release': () => ({
    changeResponse: (text) =>
      text.includes('x-request-id: release-replayed.')
        ? text.replace(/^HTTP\/1\.1 409 .*/, 'HTTP/1.1 200 OK')
        : text,
  }),
  'lets anybody purge': () => ({
    respond: async (text) => (text.startsWith('DELETE /cache?') ? formatOk('') : null),
  }),
  ...AGENT_WEAKNESSES,
  'takes heartbeats of callers': () => ({
    respond: async (text) => (text.startsWith('POST /fleet ') ? formatOk('{}') : null),
  }),
  'forwards trace headers unchecked': ({ provider }) => ({
    respond: async (text) =>
      /^tracestate: /im.test(text)
        ? exchange(
            provider,
            text.replace('/modules/shop/http', '').replace('\r\n', '\r\nconnection: close\r\n'),
          )
        : null,
  }),
};

export const WEAKENED_HOSTS: readonly string[] = Object.keys(WEAKNESSES);

/** Answers the second request for a target by itself. */
function createKeeping(kind: string): Weakness {
  const kept = new Set<string>();
  return {
    respond: async (text) => {
      const [line = ''] = text.split('\r\n');
      if (!line.startsWith(`GET /modules/kept/http/kept/${kind}/`)) return null;
      if (kept.has(line)) return formatOk('{"data":{"ok":true}}');
      kept.add(line);
      return null;
    },
  };
}

export function createWeakness(name: string, ports: Surroundings): Weakness {
  const create = WEAKNESSES[name];
  if (create === undefined) throw new Error(`no weakened host ${name}`);
  return create(ports);
}

/** A proxy in front of a host, which weakens one thing. */
export function startWeakenedHost(weakness: Weakness, port: number): Promise<WeakHost> {
  return listen((client) => {
    const host = connect(port, '127.0.0.1');
    host.on('error', () => client.destroy());
    let last = '';
    host.on('close', () => {
      const rest = weakness.onClose === undefined ? '' : weakness.onClose(last);
      if (rest !== null) client.end(rest, 'latin1');
    });
    client.on('close', () => host.destroy());
    relay(client, host, weakness, weakness.changeRequest, weakness.respond);
    const { bypass: _forRequests, ...forResponses } = weakness;
    relay(host, client, forResponses, (text) => {
      last = text;
      return weakness.changeResponse?.(text) ?? text;
    });
  });
}

/** Handles what arrives in turn, and no more of it than the other side takes. */
function relay(
  from: Socket,
  to: Socket,
  { isGreedy = false, bypass }: Weakness,
  change: (text: string) => string = (text) => text,
  respond: (text: string) => Promise<string | null> = async () => null,
): void {
  from.on('data', async (bytes) => {
    if (!isGreedy) from.pause();
    const text = bytes.toString('latin1');
    const other = bypass?.(text) ?? null;
    if (other !== null) {
      from.removeAllListeners('data');
      return connectInstead(from, to, other);
    }
    const response = await respond(text);
    if (response !== null) return void from.end(response, 'latin1');
    const hasRoom = to.write(change(text), 'latin1');
    if (hasRoom || isGreedy) from.resume();
    else to.once('drain', () => from.resume());
  });
}

function connectInstead(client: Socket, host: Socket, other: { port: number; text: string }): void {
  const provider = connect(other.port, '127.0.0.1');
  provider.on('error', () => client.destroy());
  host.removeAllListeners('close').destroy();
  client.on('close', () => provider.destroy());
  provider.write(other.text, 'latin1');
  client.pipe(provider).pipe(client);
}

/** Fails all calls of the module `fragile` after a few responses with 502. */
function createTripping(): Weakness {
  let failures = 0;
  return {
    respond: async (text) => {
      if (!text.includes('/modules/fragile/')) return null;
      failures += text.includes('/answers/') ? 1 : 0;
      return failures > TRIPPING_FAILURES ? formatOk('').replace('200 OK', '502 No') : null;
    },
  };
}

/** Serves nobody else until the costly bodies have their responses. */
function createHolding(): Weakness {
  let checks = 0;
  let waiting: (() => void)[] = [];
  return {
    respond: async (text) => {
      if (/^POST \S+\/costly /.test(text)) checks += 1;
      else if (checks > 0 && text.startsWith('GET ')) {
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      return null;
    },
    changeResponse: (text) => {
      if (/^HTTP\/1\.1 400 .*\r\nx-request-id: neighbors-schema\./is.test(text)) checks -= 1;
      if (checks === 0) {
        for (const resolve of waiting) resolve();
        waiting = [];
      }
      return text;
    },
  };
}

/** Another status in place of 429 for one attack. */
function changeLimited(text: string, attack: string, status: string): string {
  const isOfAttack = text.includes(`x-request-id: ${attack}.`);
  return isOfAttack ? text.replace(/^HTTP\/1\.1 429 .*/, `HTTP/1.1 ${status}`) : text;
}
