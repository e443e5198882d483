import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import { startEchoProvider } from '../echo-provider.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../isolation/write-plugin.js';
import { startHost } from '../start-host.js';
import { createFolder } from '../temporary-folder.js';
import { use } from '../use.js';
import { type Call, call } from './call.js';
import { describeModule } from './modules.js';

export const TOKEN = 'the-token-of-billing';
export const OTHER_TOKEN = 'the-token-of-reports';
export const KEY = 'the-key-of-acme';
export const COOKIE = 'acme=session-of-ann';
export const EXPIRED_COOKIE = 'acme=session-of-yesterday';
export const PUBLIC_URL = 'https://gateway.example';
export const APP = 'https://app.example';
export const TARGET = '/modules/crm/http/items';
/** A WebSocket. */
export const SOCKET_TARGET = '/modules/crm/http/socket';
export const PUBLIC_TARGET = '/modules/crm/http/news';

const ROUTES = ['GET', 'POST', 'DELETE'].map((method) => ({
  method,
  path: '/items',
  capability: 'crm.read',
}));
export const FILES_TARGET = '/modules/crm/http/files';
const FILES_ROUTE = {
  ...{ method: 'PUT', path: '/files', capability: 'crm.read' },
  operation: { body: 'bytes', body_max_bytes: 1000 },
};
const FORMS_ROUTE = {
  ...{ method: 'POST', path: '/files', capability: 'crm.read' },
  operation: { body_types: ['text/plain'], input_schema: { type: 'object' } },
};
const SOCKET_ROUTE = {
  ...{ method: 'GET', path: '/socket', capability: 'crm.read' },
  operation: { stream: 'websocket' },
};
const PUBLIC_ROUTES = ['GET', 'POST'].map((method) => ({
  ...{ method, path: '/news', access: 'public', capability: 'crm.read' },
  ...(method === 'POST' && { operation: { body: 'optional' } }),
}));

export const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const token = (id: string, text: string) => ({
  id,
  kind: 'service',
  scopes: ['crm.read', 'modgate.modules.read'],
  sha256: sha256(text),
});

/** Four authenticators; `acme-key` reports the credentials that it was called with. */
const ENTRY = `import { createHmac, timingSafeEqual } from 'node:crypto';
import { defineAuthenticator } from ${JSON.stringify(CONTRACT_URL)};
import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
const actor = (id) => ({ kind: 'service', id, scopes: new Set(['crm.read', 'modgate.modules.read']) });
const define = (name, more, authenticate) => defineAuthenticator({
  name,
  config: any(),
  open: (config, { log }) => ({ name, ...more, authenticate: (given) => authenticate(given, log) }),
});
export default {
  authenticators: [
    define('acme-key', { reads: ['x-acme-key'], challenges: ['ApiKey realm="acme"'] }, (given, log) => {
      const { method, target, headers } = given;
      const given_headers = Object.fromEntries(headers);
      log.info({ method, target, names: [...headers.keys()], seen: headers.get('x-seen'), given_headers }, 'asked');
      return headers.get('x-acme-key')?.[0] === '${KEY}' ? actor('key') : null;
    }),
    define('acme-cookie', { reads: ['cookie'], challenges: ['Session'] }, ({ headers }) => {
      if (headers.get('cookie')?.join().includes('modgate=')) return actor('own-cookie');
      if (headers.get('cookie')?.includes('${EXPIRED_COOKIE}')) return { rejected: 'expired' };
      return headers.get('cookie')?.includes('${COOKIE}') ? actor('cookie') : null;
    }),
    define('acme-signed', { reads: ['x-signature'] }, ({ method, target, headers }) => {
      const [bodySha256, signature = ''] = headers.get('x-signature')[0].split('.');
      const text = [method, target, bodySha256].join('\\n');
      const expected = createHmac('sha256', '${KEY}').update(text).digest();
      const given = Buffer.from(signature, 'hex');
      if (given.length !== 32 || !timingSafeEqual(given, expected)) return null;
      return { actor: actor('signed'), bodySha256 };
    }),
    define('acme-basic', { challenges: ['Basic realm="acme"'] }, ({ scheme }) =>
      scheme === 'basic' ? actor('basic') : null),
    define('bad-reads', { reads: ['content-type'] }, () => null),
  ],
};
`;
const NAMES = ['acme-key', 'acme-cookie', 'acme-signed', 'acme-basic'];
export const bearer = (text: string): RawHeader => ['authorization', `Bearer ${text}`];

/** A host with tokens and three authenticators of a plugin. All tests of a `describe` share it. */
export function useCredentials() {
  const folder = createFolder();
  const provider = use(startEchoProvider);

  const writeConfig = (name: string, ...lines: string[]) => {
    const file = join(folder, name);
    writeFileSync(file, ['plugins: ./plugins', ...lines, ''].join('\n'));
    return file;
  };
  const start = (config: string) =>
    startHost({
      dev: false,
      args: ['--config', config],
      files: {
        'crm.json': describeModule(
          'crm',
          provider.url,
          [...ROUTES, FILES_ROUTE, FORMS_ROUTE, SOCKET_ROUTE, ...PUBLIC_ROUTES],
          {
            public: true,
            records: { capture_bytes: 4096 },
            schemas: { input: 'enforce' },
          },
        ),
        'leaky.json': describeModule('leaky', provider.url, ROUTES, {
          forward_headers: ['X_Acme-Key'],
        }),
      },
    });

  const host = use(() => {
    const manifest = { kinds: undefined, authenticators: [...NAMES, 'bad-reads'] };
    writePlugin(join(folder, 'plugins'), { name: 'acme', manifest, entry: ENTRY });
    const tokens = { tokens: [token('billing', TOKEN), token('reports', OTHER_TOKEN)] };
    writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokens));
    return start(
      writeConfig(
        'modgate.yaml',
        'tokens: tokens.json',
        'token-header: x-api-key',
        `public-url: ${PUBLIC_URL}`,
        `cors: { origins: [${APP}], credentials: true }`,
        'authenticators: [tokens, acme-key, acme-cookie, acme-signed]',
      ),
    );
  });

  afterEach(() => provider.reset());

  /** Checks that the log holds no credentials: also after all tests of the file. */
  const expectSilent = () => {
    for (const secret of [TOKEN, OTHER_TOKEN, KEY, COOKIE]) {
      expect(host.output()).not.to.include(secret);
    }
  };

  after(expectSilent);

  const send = (headers: readonly RawHeader[], options: Partial<Call> = {}) =>
    call(host, { target: TARGET, as: null, ...options, headers });
  const actorOf = () => headerValue(provider.only().headers, 'modgate-actor');

  return { start, writeConfig, send, actorOf, expectSilent, host, provider };
}
