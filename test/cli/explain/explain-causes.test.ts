import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { RawConnection, type RawHeader } from '../../../core/selftest/raw-http.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { type Call, call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const EXPIRED = 'expired-token-of-billing';
const APP = 'https://app.example';
const DIGEST = `sha256:${'0'.repeat(64)}`;
const OBJECT = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } };
const PAGED = { type: 'object', properties: { page: { type: 'integer' } } };
const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
  { method: 'DELETE', path: '/items/{id}', capability: 'shop.write' },
  { method: 'GET', path: '/closed' },
  {
    method: 'POST',
    path: '/checked',
    capability: 'shop.write',
    operation: { input_schema: OBJECT },
  },
  {
    method: 'POST',
    path: '/once',
    capability: 'shop.write',
    operation: { idempotency: 'requires_key' },
  },
  { method: 'GET', path: '/paged', capability: 'shop.read', operation: { query_schema: PAGED } },
];
const ITEM = '/modules/shop/http/items/1';

const post = (target: string, text: string, headers: readonly RawHeader[] = [JSON_TYPE]): Call => ({
  method: 'POST',
  target,
  headers,
  body: Buffer.from(text),
});
const preflight = (origin: string, names = ''): Call => ({
  method: 'OPTIONS',
  target: ITEM,
  as: null,
  headers: [
    ['origin', origin],
    ['access-control-request-method', 'GET'],
    ['access-control-request-headers', names],
  ],
});
const bridge = (permission: string, change: object = {}, as?: string): Call => ({
  ...post(
    `/modules/shop/http/console-bridge/${permission}`,
    JSON.stringify({
      ...{ moduleReleaseDigest: DIGEST, uiArtifactDigest: DIGEST, permission },
      payload: { operation: 'modules_metadata' },
      ...change,
    }),
  ),
  ...(as !== undefined && { as }),
});

/** The request, its status, and the expected output of the command. */
type Cause = readonly [string, Call, number, RegExp];

const CAUSES: readonly Cause[] = [
  ['no credentials', { target: ITEM, as: null }, 401, /send credentials, such as authorization/],
  [
    'an unknown token',
    { target: ITEM, as: 'who' },
    401,
    /a token that the tokens file or an issuer/,
  ],
  ['an expired token', { target: ITEM, as: EXPIRED }, 401, /new token: billing has expired/],
  [
    'two credentials',
    { target: ITEM, headers: [['authorization', 'Bearer x']] },
    401,
    /send one authorization header/,
  ],
  [
    'an unknown scheme',
    { target: ITEM, as: null, headers: [['authorization', 'Digest x']] },
    401,
    /a scheme and a token: Bearer/,
  ],
  [
    'a user',
    { target: ITEM, as: 'dev-user:ann:shop.read' },
    403,
    /add user to callers in the descriptor of shop/,
  ],
  ['an unknown module', { target: '/modules/shpo/http/items' }, 404, /add a descriptor for shpo/],
  [
    'a rejected module',
    { target: '/modules/broken/http/items' },
    404,
    /add a descriptor for broken, or correct the name: modgate status lists all with their state/,
  ],
  [
    'a path without a route',
    { target: '/modules/shop/http/itmes/1' },
    404,
    /declare GET and this path in the manifest of shop.*\/itmes\/1/,
  ],
  [
    'a slash too much',
    { target: '/modules/shop/http/items/1/' },
    404,
    /modgate explain GET \/modules\/shop\/http\/items\/1\/ names the nearest routes/,
  ],
  ['another method', { method: 'PATCH', target: ITEM }, 404, /declare PATCH and this path/],
  ['a dot segment', { target: '/modules/shop/http/a/../b' }, 404, /correct the path: path .*\.\./],
  ['an empty segment', { target: '/modules/shop/http//a' }, 404, /correct the path: path .*empty/],
  [
    'a missing scope',
    { target: ITEM, as: 'dev-service:crm:shop.write' },
    403,
    /give service:crm the scope shop\.read/,
  ],
  [
    'a missing scope that roles have',
    { ...post('/modules/shop/http/items', '{}'), as: 'dev-service:crm:shop.read' },
    403,
    /give service:crm the scope shop\.write, or one of the roles that have it: writer owner/,
  ],
  [
    'an address that is not allowed',
    { target: '/modules/inner/http/items/1' },
    403,
    /add 127\.0\.0\.1 to allow\.addresses in the descriptor of inner/,
  ],
  [
    'a module without its manifest',
    { target: '/modules/late/http/items/1' },
    503,
    /make the manifest of late reachable: modgate status says why it waits/,
  ],
  [
    'a route without a capability',
    { target: '/modules/shop/http/closed' },
    403,
    /declare a capability for the route/,
  ],
  [
    'a body that is too large',
    post('/modules/shop/http/items', `"${'x'.repeat(2000)}"`),
    400,
    /limits\.request_bytes bounds it/,
  ],
  [
    'a body without a type',
    post('/modules/shop/http/items', '{}', []),
    400,
    /correct the body: content-type/,
  ],
  [
    'a body that is not JSON',
    post('/modules/shop/http/items', '{'),
    400,
    /correct the body: .*JSON/,
  ],
  ['an empty body', post('/modules/shop/http/items', ''), 400, /correct the body: body/],
  [
    'a body with DELETE',
    { ...post(ITEM, '{}'), method: 'DELETE' },
    400,
    /correct the body: body DELETE accepts no/,
  ],
  [
    'a compressed body',
    post('/modules/shop/http/items', '{}', [JSON_TYPE, ['content-encoding', 'gzip']]),
    400,
    /correct the body: content-encoding/,
  ],
  ['a schema', post('/modules/shop/http/checked', '{"a":1}'), 400, /correct the body: \/id/],
  [
    'a call without its idempotency-key',
    post('/modules/shop/http/once', '{}'),
    400,
    /send an idempotency-key/,
  ],
  [
    'a query schema',
    { target: '/modules/shop/http/paged?page=x' },
    400,
    /correct the query: query\.page/,
  ],
  [
    'an origin that CORS does not list',
    preflight('https://evil.example'),
    401,
    /list https:\/\/evil\.example under cors\.origins/,
  ],
  [
    'a header that CORS does not list',
    preflight(APP, 'x-other'),
    204,
    /list the request header under cors\.headers/,
  ],
  [
    'a rate limit',
    { target: '/modules/slow/http/items/1' },
    429,
    /call less often, or raise the limit: .*rate in the descriptor/,
  ],
  [
    'a provider that is down',
    { target: '/modules/down/http/items/1' },
    502,
    /start the provider, or correct its endpoints in the descriptor of down: ECONNREFUSED/,
  ],
  [
    'a provider without TLS',
    { target: '/modules/tls/http/items/1' },
    502,
    /correct its endpoints in the descriptor of tls: /,
  ],
  [
    'an open circuit breaker',
    { target: '/modules/open/http/items/1' },
    502,
    /repair the provider of open: its circuit breaker is open after failures/,
  ],
  [
    'a path that the host does not have',
    { target: '/modulse' },
    404,
    /modules are below \/modules\/NAME\/http\//,
  ],
  ['a method of a host route', { method: 'PUT', target: '/calls' }, 405, /the allow header/],
  ['a query of a host route', { target: '/calls?limit=0' }, 400, /correct the query: limit/],
  [
    'a scope of a host route',
    { target: '/calls', as: 'dev-service:crm' },
    403,
    /give service:crm the scope modgate\.calls\.read/,
  ],
  [
    'a permission of the bridge',
    bridge('shop.read', {}, 'dev-service:crm'),
    403,
    /give service:crm the scope of the permission in the path: shop\.read/,
  ],
  ['no grant', bridge('shop.read'), 403, /add the permission to console\.grants .* of shop/],
  [
    'a malformed call of the bridge',
    bridge('shop.read', { extra: 1 }),
    400,
    /correct the body: .*extra/,
  ],
];

/** Causes that only a response of the provider has. */
const ANSWERS = [
  [
    'another type',
    { headers: [['content-type', 'text/html']] },
    /carries: content-type text\/html/,
  ],
  ['an error', { status: 500 }, /which answered status 500; responses\.mode: raw .* passes it on/],
  ['an overload', { status: 503 }, /which answered status 503; responses\.mode: raw/],
  ['a conflict', { status: 409 }, /status 409; provider_errors: passthrough or .* pass it on/],
  ['credentials', { status: 401 }, /correct provider\.config\.auth in the descriptor of shop/],
  ['a right of the module', { status: 403 }, /credentials the provider rejected with status 403/],
  ['no answer in time', { raw: [], finally: 'hang' }, /or raise limits\.timeout_ms .* of shop/],
] as const;

describe('modgate explain --request-id', () => {
  let folder = '';
  const args: string[] = [];

  before(() => {
    folder = createFolder();
    const sha256 = createHash('sha256').update(EXPIRED).digest('hex');
    const expires_at = '2020-01-01T00:00:00Z';
    const entry = { id: 'billing', kind: 'service', scopes: [], sha256, expires_at };
    writeFileSync(join(folder, 'tokens.json'), JSON.stringify({ tokens: [entry] }));
    writeFileSync(
      join(folder, 'modgate.yaml'),
      `tokens: tokens.json\nroles: roles.json\ncors: { origins: [${APP}] }\n`,
    );
    const roles = { writer: { scopes: ['shop.write'] }, owner: { roles: ['writer'] } };
    writeFileSync(join(folder, 'roles.json'), JSON.stringify({ roles }));
    args.push('--config', join(folder, 'modgate.yaml'));
  });

  const setup = useHost(
    (provider) => {
      const down = 'http://127.0.0.1:9';
      const limits = { request_bytes: 1000, timeout_ms: 500 };
      return {
        'shop.json': describeModule('shop', provider.url, ROUTES, { limits }),
        'slow.json': describeModule('slow', provider.url, ROUTES, {
          rate: { per_second: 0.001, burst: 1 },
        }),
        'down.json': describeModule('down', down, ROUTES),
        'open.json': describeModule('open', down, ROUTES, {
          breaker: { failures: 1, open_ms: 60_000 },
        }),
        'tls.json': describeModule('tls', provider.url.replace('http:', 'https:'), ROUTES),
        'inner.json': describeModule('inner', provider.url, ROUTES, {
          allow: { addresses: ['192.0.2.0/24'] },
        }),
        'late.json': {
          module: 'late',
          provider: { kind: 'http', config: { endpoints: [down] } },
          manifest: { url: `${down}/manifest.json` },
        },
        'broken.json': { apiVersion: 'modgate/v1', module: 'broken', provider: { kind: 'none' } },
      };
    },
    { args, isDescribed: false },
  );

  before(async () => {
    for (const module of ['slow', 'open']) {
      await call(setup.host, { target: `/modules/${module}/http/items/1` });
    }
  });

  const explain = async (id: string) => {
    const env = {
      MODGATE_URL: setup.host.url,
      MODGATE_TOKEN: 'dev-service:ops:modgate.explain,modgate.calls.read',
    };
    const { code, stdout, stderr } = await runModgate(['explain', '--request-id', id], env);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return stdout;
  };
  const changeIn = (stdout: string) => /^change +(.*)$/m.exec(stdout)?.[1] ?? stdout;

  it('is measured with at least 30 causes, all distinct', () => {
    const errors = CAUSES.filter(([, , status]) => status >= 400);
    const titles = [...errors, ...ANSWERS].map(([title]) => title);
    expect(new Set(titles).size).to.equal(titles.length);
    expect(titles.length).to.be.at.least(30);
  });

  for (const [index, [title, sent, status, change]] of CAUSES.entries()) {
    it(`names ${title}, and what to change`, async () => {
      const id = `cause-${index}`;
      const headers: RawHeader[] = [...(sent.headers ?? []), ['x-request-id', id]];
      const response = await call(setup.host, { ...sent, headers });
      expect(response.status, response.body.toString()).to.equal(status);
      expect(changeIn(await explain(id))).to.match(change);
    });
  }

  for (const [title, answer, change] of ANSWERS) {
    it(`names a provider with ${title}, and what to change`, async () => {
      setup.provider.answer(answer);
      const id = `answer-${title.replaceAll(' ', '-')}`;
      const headers: RawHeader[] = [['x-request-id', id]];
      const { status } = await call(setup.host, { target: ITEM, headers });
      expect(status).to.equal(502);
      expect(changeIn(await explain(id))).to.match(change);
    });
  }

  it('names a head that is too large, by the id of its Problem', async () => {
    const connection = await RawConnection.open(setup.host.port);
    connection.write(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`);
    const response = await connection.readFinal();
    expect(response.status).to.equal(431);
    const id = String(parseJson(response)['request_id']);
    expect(changeIn(await explain(id))).to.match(/send fewer or shorter headers/);
  });
});
