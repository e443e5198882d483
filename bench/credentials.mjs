// CPU time of a request by its credentials: tokens of OAuth 2 and on behalf of callers against a static bearer, a
// role of 2,000 scopes against the scope in the token, and a candidate that gets a tenth of the calls. One host has
// all cases, so that they share its compiled code; short rounds in both orders let all see the same machine. `again`,
// which is `bearer` in another module, shows how far a ratio can be trusted.
// node bench/credentials.mjs [folder of the build, default dist]

import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyLoad } from './parts/load.mjs';
import { HOST_CORE, pidOf, pinSelf, readLine, spawnPinned, stop } from './parts/pinned-process.mjs';
import { readCpuMicroseconds } from './parts/process-figures.mjs';
import { round, summarise } from './parts/statistics.mjs';

const ROUNDS = Number(process.env['ROUNDS'] ?? 24);
/**
 * The requests before each case is measured: CPU time per request falls until the host has answered
 * some 60,000.
 */
const WARM_REQUESTS = 10_000;
const MAX_WARM_UPS = 10;
const ROUND_SECONDS = 1;
/** A round without a response is repeated, which happens on a busy machine. */
const MAX_ATTEMPTS = 5;
const CONNECTIONS = 32;
/** The mean pause of a connection where latency is measured: the host is not saturated. */
const THINK_MS = 40;
const LATENCY_ROUNDS = Number(process.env['LATENCY_ROUNDS'] ?? 12);
const LATENCY_SECONDS = 2;
const SHARE = 0.1;
const ROLE_SCOPES = 2_000;
const LIFETIME_SECONDS = 86_400;

const dist = process.argv[2] ?? 'dist';
const print = (line) => process.stdout.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'modgate-credentials-'));
const write = (name, value) => writeFileSync(join(folder, name), JSON.stringify(value));

pinSelf();
const server = createServer((request, response) => {
  request.resume();
  const token = { access_token: 'a'.repeat(900), token_type: 'Bearer', expires_in: LIFETIME_SECONDS };
  const body = JSON.stringify(request.url === '/token' ? token : { ok: true, text: 'x'.repeat(80) });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  response.writeHead(200, headers).end(body);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const createToken = (claims) => {
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: url, aud: 'modgate', sub: 'bench', iat: now, exp: now + LIFETIME_SECONDS };
  const signed = [{ alg: 'EdDSA', typ: 'JWT', kid: 'bench' }, { ...all, ...claims }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
};
const client = { token_url: `${url}/token`, client_id: 'bench', client_secret: 'env:BENCH_SECRET' };
const MODULES = {
  bearer: { bearer: 'env:BENCH_TOKEN' },
  again: { bearer: 'env:BENCH_TOKEN' },
  oauth2: { oauth2: client },
  exchange: { exchange: { issuer: url, ...client } },
  candidate: { bearer: 'env:BENCH_TOKEN' },
};
mkdirSync(join(folder, 'modules.d'));
for (const [module, auth] of Object.entries(MODULES)) {
  write(`modules.d/${module}.json`, {
    apiVersion: 'modgate/v1',
    module,
    provider: { kind: 'http', config: { endpoints: [url], auth } },
    ...(module === 'candidate' && { candidate: { endpoints: [url], share: SHARE } }),
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: module,
        capabilities: ['bench.read'],
        http_routes: [{ method: 'GET', path: '/items', capability: 'bench.read' }],
      },
    },
  });
}
write('jwks.json', {
  keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'EdDSA', use: 'sig' }],
});
write('issuers.json', {
  issuers: [
    {
      issuer: url,
      audience: 'modgate',
      algorithms: ['EdDSA'],
      jwks: { file: './jwks.json' },
      token_endpoints: [client.token_url],
      actor: { kind: 'service', roles: ['roles'] },
    },
  ],
});
const others = Array.from({ length: ROLE_SCOPES - 1 }, (_, at) => `bench.other-${at}`);
write('roles.json', { roles: { bench: { scopes: [...others, 'bench.read'] } } });

const host = spawnPinned(
  HOST_CORE,
  process.execPath,
  [
    ...[`${dist}/core/main.js`, 'serve', '--port', '0', '--state', join(folder, 'state')],
    ...['--modules', join(folder, 'modules.d'), '--issuers', join(folder, 'issuers.json')],
    ...['--roles', join(folder, 'roles.json')],
  ],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_SECRET: 'secret', BENCH_TOKEN: 'a'.repeat(900) },
  },
);
const base = await readLine(host, (line) =>
  line.includes('"msg":"listening"') ? JSON.parse(line).url : undefined,
);
// Requests are logged, and no other reader empties the pipe.
host.stdout.resume();

const [scoped, byRole] = [createToken({ scope: 'bench.read' }), createToken({ roles: ['bench'] })];
const CASES = {
  bearer: { module: 'bearer', token: scoped },
  again: { module: 'again', token: scoped },
  oauth2: { module: 'oauth2', token: scoped },
  exchange: { module: 'exchange', token: scoped },
  role: { module: 'bearer', token: byRole },
  candidate: { module: 'candidate', token: scoped },
};
const names = Object.keys(CASES);

const authorize = (token) => ({ authorization: `Bearer ${token}` });

async function load(name, { seconds = ROUND_SECONDS, thinkMs = 0 } = {}) {
  const { module, token } = CASES[name];
  const options = { bodyFile: null, connections: CONNECTIONS, seconds, thinkMs };
  const url = `${base}/modules/${module}/http/items`;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const before = readCpuMicroseconds(pidOf(host));
    const result = await applyLoad({ ...options, url, headers: authorize(token) });
    if (result.failed > 0) throw new Error(`${name}: ${result.failed} requests failed`);
    const cpu = (readCpuMicroseconds(pidOf(host)) - before) / result.requests;
    if (result.requests > 0) return { ...result, cpu };
  }
  throw new Error(`${name}: no request was answered in time`);
}

async function readCopies() {
  const headers = authorize(createToken({ scope: 'modgate.candidate.read' }));
  const response = await fetch(`${base}/candidate?module=candidate`, { headers });
  const { totals } = await response.json();
  return totals[0];
}

/** One figure of each case and round; rounds go through the cases forward and back in turn. */
async function collect(cases, rounds, options, figureOf) {
  const figures = Object.fromEntries(cases.map((name) => [name, []]));
  for (let turn = 0; turn < rounds; turn += 1) {
    for (const name of turn % 2 === 0 ? cases : cases.toReversed()) {
      figures[name].push(figureOf(await load(name, options)));
    }
  }
  return figures;
}

function report(figures, unit) {
  for (const [name, values] of Object.entries(figures)) {
    const { median, min, max } = summarise(values);
    // Rounds of one turn have seen the same machine.
    const ratios = values.map((value, turn) => value / figures.bearer[turn]);
    const ratio = summarise(ratios);
    const quarters = [0.25, 0.75].map((share) => round(quantile(ratios, share))).join(' to ');
    print(
      `${name.padEnd(10)} ${median} ${unit} (${min} to ${max}), ${ratio.median} × bearer ` +
        `(half of the rounds ${quarters}, all ${ratio.min} to ${ratio.max})`,
    );
  }
}

const quantile = (values, share) =>
  values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)];

try {
  for (const name of names) {
    let requests = 0;
    for (let turn = 0; turn < MAX_WARM_UPS && requests < WARM_REQUESTS; turn += 1) {
      requests += (await load(name)).requests;
    }
  }
  report(await collect(names, ROUNDS, {}, ({ cpu }) => cpu), 'µs CPU a request');
  print(`copies for the candidate: ${JSON.stringify(await readCopies())}`);
  const options = { seconds: LATENCY_SECONDS, thinkMs: THINK_MS };
  const compared = ['bearer', 'again', 'candidate'];
  report(await collect(compared, LATENCY_ROUNDS, options, ({ p99Ms }) => p99Ms), 'ms p99');
} finally {
  await stop(host);
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}
