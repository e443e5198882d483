import { expect } from 'chai';
import { HEAD_PARTS, type HeadPart } from '../../support/http/head-parts.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { CheapClient, measureCost } from '../../support/input-cost.js';

/** Below the 16 KiB that a head may have. */
const BYTES = 15_000;
/** What an anonymous caller may cost with a head that is rejected. CPU milliseconds. */
const REJECTED_MS = 5;
const TURN_MS = 50;
/** What the CPU time may grow by where a head grows to twice its length. */
const RATIO = 2.5;

const QUERY = {
  properties: {
    a: { type: 'array', uniqueItems: true },
    b: { type: 'array', items: { type: 'integer' } },
    c: { type: 'string', pattern: '^(a|b)*$' },
  },
};
const ROUTES = [
  { method: 'GET', path: '/items' },
  { method: 'GET', path: '/queried', operation: { query_schema: QUERY } },
  { method: 'GET', path: '/encoded/{x}', operation: { encoded: ['x'] } },
  { method: 'GET', path: '/rest/{x...}', operation: { encoded: ['x'] } },
  { method: 'GET', path: '/mixed/{a}-{b}.{c}' },
  { method: 'GET', path: '/bytes', operation: { response: 'bytes' } },
  { method: 'GET', path: '/cached', operation: { cache: { ttl_ms: 60_000 } } },
  { method: 'GET', path: '/socket', operation: { stream: 'websocket' } },
];
const PUBLIC = ROUTES.filter(({ path }) => path !== '/socket').map(({ operation, ...route }) => ({
  ...route,
  operation: { ...operation, public: true },
}));
const withRight = (capability: string) => ROUTES.map((route) => ({ ...route, capability }));

const TOKEN = 'authorization: Bearer dev-system:root';
const UPGRADE = [
  ...['connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
];
const PREFLIGHT = 'access-control-request-method: GET';

/** Method, path and headers of a request to each kind of route. */
const TARGETS: Readonly<Record<string, readonly [string, string, readonly string[]]>> = {
  'a route': ['GET', '/modules/shop/http/items', [TOKEN]],
  'a route, without a credential': ['GET', '/modules/shop/http/items', []],
  'a described query': ['GET', '/modules/shop/http/queried', [TOKEN]],
  'an encoded parameter': ['GET', '/modules/shop/http/encoded/', [TOKEN]],
  'a rest parameter': ['GET', '/modules/shop/http/rest/', [TOKEN]],
  'many segments': ['GET', '/modules/shop/http/rest', [TOKEN]],
  'a mixed segment': ['GET', '/modules/shop/http/mixed/a-b.', [TOKEN]],
  'a route of bytes': ['GET', '/modules/shop/http/bytes', [TOKEN]],
  'a cached route': ['GET', '/modules/shop/http/cached', [TOKEN]],
  'a WebSocket': ['GET', '/modules/shop/http/socket', [TOKEN, ...UPGRADE]],
  'a raw route': ['GET', '/modules/raw/http/items', [TOKEN]],
  'a public route': ['GET', '/modules/open/http/items', []],
  'a public route with a rest': ['GET', '/modules/open/http/rest/', []],
  'a public query': ['GET', '/modules/open/http/queried', []],
  'an unknown module': ['GET', '/modules/nope/http/items', [TOKEN]],
  'an unknown module, without a credential': ['GET', '/modules/nope/http/items', []],
  'the console bridge': ['POST', '/modules/shop/http/console-bridge/shop.use', [TOKEN]],
  modules: ['GET', '/modules', [TOKEN]],
  'modules, without a credential': ['GET', '/modules', []],
  calls: ['GET', '/calls', [TOKEN]],
  'the description of the API': ['GET', '/openapi.json', [TOKEN]],
  explanations: ['GET', '/explain', [TOKEN]],
  'liveness probes': ['GET', '/livez', []],
  docs: ['GET', '/docs', []],
  'the console': ['GET', '/console', []],
  'the API of the console': ['GET', '/console/api/session', []],
  'modules behind the console': ['GET', '/console/api/modules/shop/http/items', []],
  'a sign-in at an issuer': ['GET', '/console/api/oidc/start', []],
  mcp: ['POST', '/mcp', [TOKEN]],
  'mcp, without a credential': ['POST', '/mcp', []],
  'an unknown path': ['GET', '/nothing', []],
  'a preflight': [
    'OPTIONS',
    '/modules/shop/http/items',
    ['origin: https://app.example', PREFLIGHT],
  ],
  'a preflight of another origin': [
    'OPTIONS',
    '/modules/shop/http/items',
    ['origin: https://evil.example', PREFLIGHT],
  ],
};

/** Twice the head costs at most 2.5 times as much, and no head holds the event loop up. */
describe('the CPU time of a head of any kind', function () {
  this.timeout(300_000);
  let client: CheapClient;
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, withRight('shop.use'), {
        forward_client: true,
        forward_headers: ['accept-language', 'x-any'],
      }),
      'raw.json': describeModule('raw', url, withRight('raw.use'), {
        responses: { mode: 'raw' },
      }),
      'open.json': describeModule('open', url, PUBLIC),
    }),
    {
      isDescribed: false,
      args: [
        ...['--trusted-proxies', '127.0.0.0/8,10.0.0.0/8', '--cors', 'https://app.example'],
        ...['--allow-dev-auth-anywhere', '--auth-failures', '0'],
      ],
    },
  );

  before(async () => {
    client = new CheapClient(setup.host.port);
    // Compiled code is what counts.
    for (const target of Object.values(TARGETS)) {
      const bytes = buildHead(target, {});
      for (let round = 0; round < 20; round += 1) await client.send(bytes);
    }
  });

  after(() => client.close());

  for (const [title, target] of Object.entries(TARGETS)) {
    it(`is in proportion to its length at most for ${title}`, async () => {
      const [, , own] = target;
      const problems: string[] = [];
      let dearest = { part: '', fullMs: 0 };
      for (const [part, write] of Object.entries(HEAD_PARTS)) {
        const [half, full] = [BYTES / 2, BYTES].map((bytes) => buildHead(target, write(bytes)));
        const isAnonymous = !own.includes(TOKEN);
        const status = await client.send(full as Buffer);
        const bounds = {
          ratio: RATIO,
          turnMs: TURN_MS,
          ...(isAnonymous && Number(status) >= 400 && { fullMs: REJECTED_MS }),
        };
        const send = (isFull: boolean) => client.send((isFull ? full : half) as Buffer);
        const { fullMs, problem } = await measureCost(send, bounds);
        if (problem !== null) problems.push(`${part} (${status}): ${problem}`);
        if (fullMs > dearest.fullMs) dearest = { part, fullMs };
      }
      console.log(`      ${title}: ${dearest.fullMs.toFixed(1)} ms at most, for ${dearest.part}`);
      expect(problems).to.deep.equal([]);
    });
  }
});

function buildHead(
  [method, path, own]: readonly [string, string, readonly string[]],
  part: HeadPart,
): Buffer {
  const replaced = new Set((part.headers ?? []).map((line) => line.split(':', 1)[0]));
  const kept = ['host: 127.0.0.1', ...own].filter(
    (line) => !replaced.has(line.split(':', 1)[0] ?? ''),
  );
  const lines = [`${method} ${path}${part.path ?? ''} HTTP/1.1`, ...kept, ...(part.headers ?? [])];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
