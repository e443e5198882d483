// CPU time of a request by its credentials, side by side in one host: tokens of OAuth 2 and on behalf of callers
// against a static bearer, and a role of 2,000 scopes against the scope in the token.
// node bench/credentials.mjs [folder of the build, default dist]

import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyLoad } from './load.mjs';
import { HOST_CORE, pidOf, pinSelf, readLine, spawnPinned, stop } from './pinned-process.mjs';
import { readCpuMicroseconds } from './process-figures.mjs';
import { round, summarise } from './statistics.mjs';

const ROUNDS = 10;
const ROUND_SECONDS = 2;
const CONNECTIONS = 32;
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
  oauth2: { oauth2: client },
  exchange: { exchange: { issuer: url, ...client } },
};
mkdirSync(join(folder, 'modules.d'));
for (const [module, auth] of Object.entries(MODULES)) {
  write(`modules.d/${module}.json`, {
    apiVersion: 'modgate/v1',
    module,
    provider: { kind: 'http', config: { endpoints: [url], auth } },
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
// Requests are logged: nobody else reads them.
host.stdout.resume();

const [scoped, byRole] = [createToken({ scope: 'bench.read' }), createToken({ roles: ['bench'] })];
const CASES = {
  bearer: { module: 'bearer', token: scoped },
  oauth2: { module: 'oauth2', token: scoped },
  exchange: { module: 'exchange', token: scoped },
  role: { module: 'bearer', token: byRole },
};

async function measure({ module, token }) {
  const before = readCpuMicroseconds(pidOf(host));
  const { requests, failed } = await applyLoad({
    url: `${base}/modules/${module}/http/items`,
    headers: { authorization: `Bearer ${token}` },
    bodyFile: null,
    connections: CONNECTIONS,
    seconds: ROUND_SECONDS,
  });
  if (failed > 0) throw new Error(`${module}: ${failed} requests failed`);
  if (requests === 0) throw new Error(`${module}: no request was answered in time`);
  return (readCpuMicroseconds(pidOf(host)) - before) / requests;
}

try {
  // CPU time per request falls during the first ten thousand requests.
  for (const one of Object.values(CASES)) await measure(one);
  const figures = Object.fromEntries(Object.keys(CASES).map((name) => [name, []]));
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    for (const [name, one] of Object.entries(CASES)) figures[name].push(await measure(one));
  }
  for (const [name, values] of Object.entries(figures)) {
    const { median, min, max } = summarise(values);
    // Rounds of one turn have seen the same machine.
    const ratios = values.map((value, turn) => value / figures.bearer[turn]);
    const ratio = round(summarise(ratios).median);
    print(`${name.padEnd(10)} ${median} µs CPU a request (${min} to ${max}), ${ratio} × bearer`);
  }
} finally {
  await stop(host);
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true, force: true });
}
