import { connect, type Socket } from 'node:net';
import { WEAKENED_AGENTS, WEAKENED_TOOLS } from './agents.js';
import { WEAKENED_BROKERS } from './brokers.js';
import { WEAKENED_BODIES, WEAKENED_SERVICES, WEAKENED_WEBSOCKETS } from './services.js';
import { listen, type WeakHost } from './weak-host.js';
import {
  answer,
  changeBody,
  exchange,
  formatOk,
  isOf,
  NEVER,
  readdress,
  restate,
  rewrite,
  type WeakenedHosts,
  type Weakness,
  weak,
} from './weakness.js';

/** A request whose body has not begun. */
const TO_SURFACE = /^\S+ \/(?:console|docs|mcp)\b[\s\S]*\r\nexpect: 100-continue\r\n/;
const TRIPPING_FAILURES = 5;
const REPEATED = /"a":1,"a":2|"b":1,"\\u0062":2/;
/** Granted permissions of the module `desk` that do not write its configuration. */
const OTHERS = /desk\.(?:values|sync)|shop\.use/;
const UPGRADE = /^(?:connection: upgrade|upgrade:|http2-settings:).*\r\n/gim;
const MOUNTS =
  /^GET \/(?:%73helf|shelf%2f|\/shelf|SHELF|shelf;a|a\/\.\.\/shelf|shelf\/\.\.|shelf\/%2e%2e)\/?\S* /;

/** By what each of them does. All have attacks that once succeeded against the host. */
export const WEAKENED_HOSTS: WeakenedHosts = {
  ...WEAKENED_BODIES,
  ...WEAKENED_WEBSOCKETS,
  ...WEAKENED_SERVICES,
  ...WEAKENED_AGENTS,
  ...WEAKENED_TOOLS,
  ...WEAKENED_BROKERS,
  'reads without a bound': weak('neighbors-flood neighbors-unread websocket-unread-provider', {
    isGreedy: true,
  }),
  'ignores Upgrade': weak('smuggling-upgrade-*', rewrite(UPGRADE, '')),
  'has one circuit breaker for all routes': weak('neighbors-breaker', createTripping),
  'asks the issuer about every token': weak('neighbors-introspection-*', ({ introspection }) => ({
    respond: async (text) => {
      const token = /^authorization: bearer ((?:random-|iss_).*)\r$/im.exec(text)?.[1];
      if (token === undefined) return null;
      const head = `POST /introspect HTTP/1.0\r\ncontent-length: ${token.length + 6}\r\n\r\n`;
      await exchange(introspection, `${head}token=${token}`);
      return null;
    },
  })),
  'takes a closed connection for the end of a response': weak(
    'response-cut-unknown',
    answer(/\/answers\/cut-unknown /, formatOk('{"data":{"ok":true}}')),
  ),
  'repeats a context without a bound': weak(
    'cross-module-repeated-context',
    answer(/"target":"selftest"/, formatOk('{"data":[]}')),
  ),
  'answers errors first': weak(
    'smuggling-connect-behind smuggling-garbage-behind',
    answer(/CONNECT a:1|\0 garbage/, formatOk('', '501 No')),
  ),
  'shows metrics under any name': weak(
    'host-metrics',
    answer(/^GET \/metrics [^\r]*\r\nhost: evil\.test/),
  ),
  'takes a proxy for a client': weak(
    'host-metrics-proxy',
    answer(/^GET \/metrics [\s\S]*\r\nx-forwarded-for: /),
  ),
  'explains without a limit': weak(
    'guard-explain-guess',
    restate('guard-explain-guess', 429, '200 OK'),
  ),
  'reads any body': weak(
    'oversize-anonymous-*',
    answer(
      /^POST \/(?:docs|console)\b[\s\S]*\r\ncontent-length: 1048576\r\n/,
      'HTTP/1.1 100 Continue\r\n\r\n',
    ),
  ),
  'reads the body of any request to a surface': weak(
    'admin-surface-* oversize-surface-*',
    answer(TO_SURFACE, 'HTTP/1.1 100 Continue\r\n\r\n'),
  ),
  'answers for a surface after the body': weak(
    'admin-surface-* oversize-surface-*',
    { respond: async (text) => (TO_SURFACE.test(text) ? NEVER : null) },
    true,
  ),
  'reads the messages of any method': weak(
    'admin-surface-mcp',
    restate('admin-surface-mcp', 405, '400 Bad Request'),
  ),
  'ignores a final slash': weak('path-final-slash', rewrite(/^(GET \S+\/reports)\/ /, '$1 ')),
  'lets a mixed segment stand for its neighbors': weak(
    'path-mixed-*',
    rewrite(/^(GET \S+\/docs\/)\S*secret\.json /, '$1other.json '),
  ),
  'forwards any encoded character': weak(
    'path-encoded-dots path-encoded-matrix path-encoded-twice path-encoded-reverse',
    rewrite(/^(GET \S+\/queues\/)\S*(?:%3b|\.\.|%25)\S* /i, '$1%2f '),
  ),
  'decodes a path before it looks for mounts': weak(
    'mount-encoded mount-encoded-slash mount-double-slash mount-case mount-parameter ' +
      'mount-dots-into mount-dots-out mount-dots-encoded',
    rewrite(MOUNTS, 'GET /shelf/items '),
  ),
  'finds mounts by any header': weak('mount-forwarded-host', {
    changeRequest: (text) =>
      /^x-forwarded-host: /m.test(text)
        ? text.replace(/^host: .*\r$/m, 'host: shelf.selftest.test\r')
        : text,
  }),
  'finds mounts by a part of the host': weak(
    'mount-host-longer mount-host-below mount-host-list mount-host-absolute',
    {
      changeRequest: (text) => {
        const isNamed = /^(?:GET http:\/\/|host: .*)\S*shelf\.selftest\.test/m.test(text);
        if (!isNamed || /^GET \/(?:modules|metrics)/.test(text)) return text;
        return text
          .replace(/^GET http:\/\/[^/]+/, 'GET ')
          .replace(/^host: .*\r$/m, 'host: shelf.selftest.test\r');
      },
    },
  ),
  'keeps its own routes under every name': weak(
    'mount-host-modules mount-host-metrics mount-host-other',
    {
      changeRequest: (text) =>
        /^GET \/(?:modules|metrics)/.test(text)
          ? text.replace(/^host: shelf\.selftest\.test\r$/m, 'host: 127.0.0.1\r')
          : text,
    },
  ),
  'needs no capability below a mount': weak(
    'mount-locked',
    rewrite(/^GET \/shelf\/locked /, 'GET /shelf/items '),
  ),
  'lets a module take any path': weak(
    'mount-shadow',
    rewrite(/^GET \/audit /, 'GET /shelf/items '),
  ),
  'serves RTSP': weak('guard-rtsp', answer(/^GET \S+ RTSP\/1\.0\r\n/)),
  'keeps the last of two members': weak(
    'cross-module-repeated cross-module-repeated-deep mcp-repeated-member',
    {
      changeRequest: (text) =>
        changeBody(text, (body) => (REPEATED.test(body) ? JSON.stringify(JSON.parse(body)) : body)),
    },
  ),
  'opens configuration to every capability': weak(
    'cross-module-config-reader cross-module-config-route-read cross-module-config-route-write ' +
      'cross-module-config-action-write',
    {
      changeRequest: (text) => {
        if (!text.includes('"operation":"config_')) return text;
        const changed = changeBody(text, (body) => body.replace(OTHERS, 'desk.config'));
        return changed.replace(OTHERS, 'desk.config');
      },
    },
  ),
  'checks no addresses': weak('guard-address-*', rewrite(/\/modules\/fenced\//, '/modules/shop/')),
  'opens a module where one route is public': weak(
    'guard-public-route guard-public-module guard-public-bridge guard-public-credential',
    {
      respond: async (text) => {
        const isOpened =
          /^\S+ \/modules\/(?:open|shop)\/http\/(?:public|items|console-bridge\S*) HTTP/;
        const isKnown = /^authorization: Bearer (?!wrong)|^modgate-actor: /im.test(text);
        return isOpened.test(text) && !isKnown ? formatOk('{}') : null;
      },
    },
  ),
  'counts no wrong credentials': weak(
    'guard-failures',
    restate('guard-failures', 429, '401 Unauthorized'),
  ),
  'counts no requests of an actor': weak(
    'neighbors-actor-rate',
    restate('neighbors-actor-rate', 429, '403 Forbidden'),
  ),
  'checks bodies on its event loop': weak('neighbors-schema', createHolding),
  'masks nothing': weak('leak-sentence leak-descriptor', ({ secret }) => ({
    changeResponse: (text) => changeBody(text, (body) => body.replaceAll('[redacted]', secret)),
  })),
  'shows surfaces every header': weak('leak-surface-*', {
    respond: async (text) => (text.startsWith('GET /echo ') ? formatOk(text) : null),
  }),
  'keeps one response for all callers': weak('cache-actor', () => createKeeping('own')),
  'keeps one response for all headers': weak('cache-poisoned', () => createKeeping('shared')),
  'lets anybody purge': weak('cache-purge', answer(/^DELETE \/cache\?/)),
  'forwards trace headers unchecked': weak('trace-*', ({ provider }) => ({
    respond: async (text) =>
      /^tracestate: /im.test(text) ? exchange(provider, readdress(text, '/items', 'a')) : null,
  })),
};

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
      return failures > TRIPPING_FAILURES ? formatOk('', '502 No') : null;
    },
  };
}

/** Serves no other client until it has responded to the costly bodies. */
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
      if (text.startsWith('HTTP/1.1 400 ') && isOf(text, 'neighbors-schema')) checks -= 1;
      if (checks === 0) {
        for (const resolve of waiting) resolve();
        waiting = [];
      }
      return text;
    },
  };
}
