import { setTimeout as pause } from 'node:timers/promises';
import { COPIED_NAME } from '../cases/candidate.js';
import { exchangedToken, REDIRECT_TARGET } from '../cases/exchange.js';
import { RAW_BASE } from '../cases/raw-mode.js';
import { ALLOWED_ORIGIN, SESSION_COOKIE } from '../plugins.js';
import { FLOOD } from '../servers/websocket-scripts.js';
import {
  answer,
  changeBody,
  exchange,
  formatOk,
  isOf,
  NEVER,
  readdress,
  readPayload,
  restate,
  send,
  type WeakenedHosts,
  type Weakness,
  weak,
} from './weakness.js';

const SERVED = formatOk('{"data":{"ok":true}}');

/** Weaknesses of roles, credentials for providers, changing endpoints, candidates and releases. */
export const WEAKENED_SERVICES: WeakenedHosts = {
  'keeps one exchanged token for all callers': weak('jwt-exchange-caller', ({ provider }) =>
    createExchanging('bob', 'ann', provider),
  ),
  'exchanges tokens of any issuer': weak('jwt-exchange-issuer', ({ provider }) =>
    createExchanging('eve', 'eve', provider),
  ),
  'shows exchanged tokens': weak(
    'leak-exchanged-token',
    answer(/\/answers\/repeated /, formatOk(exchangedToken('ann'), '409 Conflict')),
  ),
  'follows redirects of a token endpoint': weak('ssrf-token-endpoint', ({ bystander }) =>
    send(/^GET \/modules\/redirected\//, bystander, (text) =>
      readdress(text, REDIRECT_TARGET, 'a'),
    ),
  ),
  'gives any role that a claim names': weak('jwt-role-made-up', createRoleGiving('keeper')),
  'knows the names that all issuers have for roles': weak(
    'jwt-role-elsewhere',
    createRoleGiving('partner-keeper'),
  ),
  'gives every scope of a role': weak('jwt-role-bounded', createRoleGiving('manager')),
  'calls any address of a name': weak('ssrf-name-*', ({ provider }) =>
    send(
      /^GET \/modules\/name-(?!target)/,
      provider,
      (text) => readdress(text, '/items', 'a'),
      SERVED,
    ),
  ),
  'accepts the certificate of the target of a name': weak(
    'tls-name-target',
    answer(/^GET \/modules\/name-target\//, SERVED),
  ),
  'copies what the caller sends': weak('candidate-credentials', ({ candidate }) =>
    send(/modgate-candidate: forged/, candidate, (text) =>
      text.replace(/^GET \S+ HTTP\/1.1/, 'GET /items HTTP/1.0'),
    ),
  ),
  'follows redirects of a candidate': weak('candidate-redirect', ({ bystander }) =>
    send(/\/copy-redirect /, bystander, (text) => text.replace('HTTP/1.1', 'HTTP/1.0')),
  ),
  'answers with a candidate': weak(
    'candidate-answer',
    answer(/\/copy-other /, formatOk('{"data":{"ok":"candidate"}}')),
  ),
  'copies calls of every method': weak('candidate-method', ({ candidate }) =>
    send(/^POST \/modules\/copied\//, candidate, (text) => text.replace('HTTP/1.1', 'HTTP/1.0')),
  ),
  'shows values of a candidate': weak('candidate-names candidate-echo', ({ secret }) => ({
    changeResponse: (text) =>
      text.includes('"differences":[')
        ? changeBody(text, (body) => body.replaceAll('"/*"', `"${secret} ${COPIED_NAME}"`))
        : text,
  })),
  'waits for a candidate': weak(
    'candidate-hang candidate-endless candidate-large',
    // Until the client closes the connection.
    { respond: async (text) => (text.startsWith('GET /modules/copied-') ? NEVER : null) },
    true,
  ),
  'publishes sockets and candidates of any publisher': weak(
    'release-reference-socket release-reference-candidate',
    answer(/^x-request-id: release-reference-(?:socket|candidate)\./m),
  ),
  'publishes files, variables and code of any publisher': weak(
    'release-stranger release-code-* release-reference-* release-file-* release-path-*',
    answer(
      /^POST \/releases (?![\s\S]*x-request-id: (?:release-replayed|guard-unread))/,
      formatOk('{"release":null,"outcome":"active"}'),
    ),
  ),
  'ignores the base of a release': weak(
    'release-replayed',
    restate('release-replayed', 409, '200 OK'),
  ),
  'takes heartbeats of callers': weak('admin-heartbeat', answer(/^POST \/fleet /)),
};

function createExchanging(subject: string, owner: string, provider: number): Weakness {
  const request = /^GET \/modules\/exchanging\/http\/items /;
  return {
    respond: async (text) => {
      if (!request.test(text) || !readPayload(text).includes(`"sub":"${subject}"`)) return null;
      await exchange(provider, readdress(text, '/items', `${exchangedToken(owner)}1`));
      return SERVED;
    },
  };
}

/** Opens the locked route to tokens that name the role first. */
function createRoleGiving(role: string): Weakness {
  return {
    respond: async (text) => {
      const isNamed = readPayload(text).includes(`"roles":["${role}"`);
      return isNamed && /^GET \S+\/locked /.test(text) ? SERVED : null;
    },
  };
}

/** Hosts that handle long bodies and costly heads badly. */
export const WEAKENED_BODIES: WeakenedHosts = {
  'ends each response that breaks off': weak(
    'response-long-bytes-* response-long-late response-long-open response-long-two ' +
      'response-long-utf8 response-long-cut response-long-size response-long-over ' +
      'response-long-trailers',
    { onClose: endChunks },
  ),
  'forwards bodies before they have proved good': weak(
    'json-long-* oversize-long-body oversize-long-trailers smuggling-long-size ' +
      'smuggling-long-lf smuggling-long-longer smuggling-long-cut',
    ({ provider }) =>
      send(
        /^POST \/modules\/long\/http\/long\/items /,
        provider,
        (text) => `${createWhole(text)}\r\n{}`,
      ),
  ),
  'reads bodies before it knows the right': weak(
    'guard-unread-*',
    answer(/^POST [\s\S]*content-length: 1000\r\nexpect: 100-/, 'HTTP/1.1 100 Continue\r\n\r\n'),
  ),
  'takes the first of several media types': weak('raw-events-*', ({ provider }) => ({
    respond: async (text) => {
      const path = /^GET \/modules\/raw\/http(\/events\/\S+)/.exec(text)?.[1];
      return path === undefined ? null : exchange(provider, readdress(text, RAW_BASE + path, 'a'));
    },
  })),
  'reads the rest of a body as a request': weak(
    'smuggling-long-early',
    answer(/^POST \/modules\/long\/http\/long\/early /, formatOk('', '502 No') + formatOk('{}')),
  ),
  'forwards trailers as headers': weak('smuggling-long-trailer', ({ provider }) => ({
    respond: async (text) =>
      text.startsWith('POST /modules/long/http/long/named ')
        ? exchange(provider, `${createWhole(text)}modgate-actor: system:root\r\n\r\n{}`)
        : null,
  })),
  'answers before the head of the provider ends': weak(
    'oversize-answer-head-endless',
    answer(/^GET \/modules\/long\/http\/long\/head /),
  ),
  'reads heads and trailers without an end': weak(
    'oversize-head-endless oversize-long-trailers',
    { respond: async (text) => (text.includes('x-endless: a') ? NEVER : null) },
    true,
  ),
  'searches a path for each cookie and copies each segment': weak(
    'redos-recorded redos-segments',
    {
      respond: async (text) => {
        if (/^GET \S*(?:(?:%2525){99}|(?:\/%2F){99})/.test(text)) await pause(600);
        return null;
      },
    },
    true,
  ),
  'waits for slow bodies': weak(
    'slow-long-*',
    {
      // The host closes a connection without a request.
      onClose: (last) => (last === '' || last.startsWith('HTTP/1.1 408 ') ? null : ''),
      respond: async (text) =>
        /^\S+ \/modules\/long\/http\/(?:flood|long\/slow|long\/trickle)/.test(text) ? NEVER : null,
    },
    true,
  ),
};

/** The head of the request, without its end, for a body of two bytes. */
function createWhole(text: string): string {
  const [head = ''] = text.split('\r\n\r\n');
  const chunked = /^transfer-encoding: chunked$/im;
  return `${readdress(head, '/items', 'a').replace(chunked, 'content-length: 2')}\r\n`;
}

/** The last chunk, for a response in chunks that has none. */
function endChunks(last: string): string {
  const isHead = last.startsWith('HTTP/1.1 ');
  const isChunked = isHead ? /^transfer-encoding: chunked\r$/im.test(last) : last !== '';
  return isChunked && !last.endsWith('0\r\n\r\n') ? '0\r\n\r\n' : '';
}

const SOCKETS = '/modules/sockets/http';
const HIDDEN = `GET ${SOCKETS}/items?hidden `;
const PAGE_HEADERS = /^(?:origin|sec-fetch-site): .*\r\n/gm;

/** Errors of a host in the handling of WebSockets. */
export const WEAKENED_WEBSOCKETS: WeakenedHosts = {
  'serves what follows a handshake': weak(
    'websocket-declined websocket-accept websocket-anonymous websocket-version websocket-h2c ' +
      'websocket-opened',
    ({ host }) => ({
      respond: async (text) => {
        const start = text.indexOf(HIDDEN);
        if (start < 0 || !(start === 0 || /^connection: upgrade/im.test(text))) return null;
        await exchange(host, text.slice(start).replace('\r\n', '\r\nconnection: close\r\n'));
        return null;
      },
    }),
  ),
  'reads any head of a handshake': weak(
    'websocket-head-*',
    ({ bystander }) => ({
      // The limits of that server are longer.
      bypass: (text) => connectTo(bystander, text, /\/endless-client /),
      respond: async (text) => {
        if (text.startsWith(`GET ${SOCKETS}/endless `)) return NEVER;
        return /^sec-websocket-protocol: a{1000}/m.test(text)
          ? 'HTTP/1.1 101 Switching Protocols\r\n\r\n'
          : null;
      },
    }),
    true,
  ),
  'passes any frame': weak('websocket-client-* websocket-provider-*', ({ sockets }) => ({
    bypass: (text) => connectTo(sockets, text, /^GET \S+\/http\/(?:frames|reply\/\S+) /),
  })),
  'takes subprotocols as they come': weak(
    'websocket-bearer-forwarded websocket-bearer-case websocket-bearer-two ' +
      'websocket-bearer-alone websocket-bearer-beside websocket-bearer-stranger websocket-chosen-*',
    ({ sockets }) => ({
      bypass: (text) =>
        isOf(text, 'websocket-bearer-recorded')
          ? null
          : connectTo(sockets, text, /^GET \S+\/http\/offers\S* /),
    }),
  ),
  'records subprotocols': weak('websocket-bearer-recorded', () => {
    let protocols = '';
    return {
      respond: async (text) => {
        protocols =
          /^sec-websocket-protocol: (.*modgate\.bearer\..*)\r$/m.exec(text)?.[1] ?? protocols;
        return text.startsWith('GET /calls?') ? formatOk(JSON.stringify({ protocols })) : null;
      },
    };
  }),
  'opens WebSockets for any page': weak('websocket-cookie-*', {
    changeRequest: (text) =>
      text.startsWith(`GET ${SOCKETS}/open `) && text.includes(SESSION_COOKIE)
        ? text.replace(PAGE_HEADERS, '').replace('\r\n', `\r\norigin: ${ALLOWED_ORIGIN}\r\n`)
        : text,
  }),
  'reads for clients that do not': weak(
    'websocket-unread-client',
    { changeResponse: (text) => (text.includes(FLOOD) ? '' : text) },
    true,
  ),
};

/** The provider itself, below the path of its module. */
function connectTo(port: number, text: string, target: RegExp) {
  return target.test(text) ? { port, text: text.replace(SOCKETS, '') } : null;
}
