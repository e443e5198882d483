import { expect } from 'chai';
import { listFindings } from '../support/cli/check-json.js';
import { createWorkplace } from '../support/cli/run-in.js';
import { call, parseJson } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

/** Answers with what the adapter knows of the route, and with the paths that it was told. */
const ENTRY = `import { defineAdapter } from ${JSON.stringify(CONTRACT_URL)};
import { defaulted, object, optional, string } from ${JSON.stringify(SUPERSTRUCT_URL)};
const open = () => {
  let paths = null;
  let seen = null;
  return {
    manifest: async () => { throw new Error('it is inline'); },
    check: async () => {},
    useRoutes: (routes) => {
      paths = routes.map(({ declared, options }) => declared.path + ' ' + options?.procedure);
    },
    invoke: async ({ operation: { options } }) => {
      seen ??= options;
      const body = { options: options ?? null, isSame: options === seen, paths };
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(body)),
      };
    },
  };
};
const common = { config: object({}), supports: {}, open };
const procedure = object({ procedure: string(), style: defaulted(string(), 'plain') });
export default { adapters: [
  defineAdapter({ ...common, kind: 'acme-rpc', operation: procedure }),
  defineAdapter({ ...common, kind: 'acme-free', operation: optional(procedure) }),
  defineAdapter({ ...common, kind: 'acme-none' }),
] };`;

const CLASHING = `import { defineAdapter } from ${JSON.stringify(CONTRACT_URL)};
import { object } from ${JSON.stringify(SUPERSTRUCT_URL)};
const open = () => { throw new Error('never'); };
export default { adapters: [
  defineAdapter({ kind: 'cache', config: object({}), supports: {}, operation: object({}), open }),
] };`;

const CAPABILITY = 'rpc.use';
const AS = `dev-service:tester:${CAPABILITY}`;
const KINDS = ['acme-rpc', 'acme-free', 'acme-none'];

function createManifest(operations: readonly (object | undefined)[]): object {
  return {
    protocol: 'modgate.manifest.v1',
    module_id: 'rpc',
    capabilities: [CAPABILITY],
    http_routes: operations.map((operation, index) => {
      return { method: 'GET', path: `/p${index}`, capability: CAPABILITY, operation };
    }),
  };
}

function describeRpc(kind: string, ...operations: readonly (object | undefined)[]): object {
  const provider = { kind, config: {} };
  return { module: 'rpc', provider, manifest: { inline: createManifest(operations) } };
}

describe('operations of an adapter', () => {
  let folder = '';

  const place = use(() => {
    folder = createFolder();
    writePlugin(folder, { name: 'acme', manifest: { kinds: KINDS }, entry: ENTRY });
    writePlugin(folder, { name: 'clashing', manifest: { kinds: ['cache'] }, entry: CLASHING });
    return createWorkplace();
  });
  const host = use(() => startHost({ args: ['--plugins', folder] }));

  const check = (file: object) => listFindings(place, file, '--plugins', folder);

  it('reach the adapter with each call, coerced, and all routes before the first', async () => {
    const operations = [
      { 'acme-rpc': { procedure: 'a' } },
      { 'acme-rpc': { procedure: 'b', style: 'fancy' } },
    ];
    host.drop('rpc.json', describeRpc('acme-rpc', ...operations));
    const get = (target: string) => call(host, { target: `/modules/rpc/http${target}`, as: AS });
    await waitUntil('the module', async () => (await get('/p0')).status === 200);
    const paths = ['/p0 a', '/p1 b'];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const { data } = parseJson(await get('/p0')) as { data: unknown };
      const options = { procedure: 'a', style: 'plain' };
      expect(data).to.deep.equal({ options, isSame: true, paths });
    }
    const { data } = parseJson(await get('/p1')) as { data: { options: unknown } };
    expect(data.options).to.deep.equal({ procedure: 'b', style: 'fancy' });
  });

  it('are absent for a route without one, where the adapter allows it', async () => {
    host.drop('free.json', { ...describeRpc('acme-free', undefined), module: 'free' });
    const get = () => call(host, { target: '/modules/free/http/p0', as: AS });
    await waitUntil('the module', async () => (await get()).status === 200);
    const { data } = parseJson(await get()) as { data: unknown };
    expect(data).to.deep.equal({ options: null, isSame: true, paths: ['/p0 undefined'] });
  });

  it('are validated with the descriptor, each at its place', async () => {
    const wrong = { 'acme-rpc': { procedure: 7, extra: 1 } };
    const findings = await check(
      describeRpc('acme-rpc', wrong, {}, { 'acme-rpc': { procedure: 'c' } }),
    );
    expect(findings).to.deep.equal([
      "21 wrong-type 'http_routes[0].operation.acme-rpc.procedure' must be a string",
      "22 unknown-key unknown key 'extra' in 'http_routes[0].operation.acme-rpc'",
      "26 missing-key route 'GET /p1' needs 'operation.acme-rpc' for a provider of kind acme-rpc",
    ]);
  });

  it('are rejected for another kind than that of the descriptor', async () => {
    const other = { 'acme-rpc': { procedure: 'a' } };
    expect(await check(describeRpc('acme-free', other))).to.deep.equal([
      "20 operation-of-other-kind 'http_routes[0].operation.acme-rpc' is for providers of kind acme-rpc, but the provider of route 'GET /p0' is of kind acme-free",
    ]);
    const [none] = await check(describeRpc('acme-none', { 'acme-none': {} }));
    expect(none).to.match(
      /^20 unknown-key 'http_routes\[0\]\.operation\.acme-none' must be absent/,
    );
    const [unknown] = await check(describeRpc('acme-rpc', { 'acme-rcp': {} }));
    expect(unknown).to.match(/^20 unknown-key unknown key 'acme-rcp'/);
  });

  it('are validated in a manifest alone, by the plugin of their kind', async () => {
    expect(await check(createManifest([{ 'acme-rpc': { procedure: 'a' } }]))).to.deep.equal([]);
    const findings = await check(
      createManifest([{ 'acme-rpc': { procedure: 7 } }, { 'acme-free': { procedure: 'a' } }]),
    );
    expect(findings).to.deep.equal([
      "14 wrong-type 'http_routes[0].operation.acme-rpc.procedure' must be a string",
      "18 missing-key route 'GET /p1' needs 'operation.acme-rpc' for a provider of kind acme-rpc",
      "23 operation-of-other-kind 'http_routes[1].operation.acme-free' is for providers of kind acme-free, but the provider of route 'GET /p1' is of kind acme-rpc",
    ]);
  });

  it('are validated at their place in a long manifest, which a thread parses', async () => {
    const routes = Array.from({ length: 400 }, () => ({ 'acme-rpc': { procedure: 'a' } }));
    const long = createManifest([...routes, { 'acme-rpc': { procedure: 7 } }]);
    place.write('long.json', JSON.stringify(long, null, 1));
    const descriptor = { ...describeRpc('acme-rpc'), manifest: './long.json' };
    const [finding, ...others] = await check(descriptor);
    expect(others).to.deep.equal([]);
    expect(finding).to.match(
      /^4014 wrong-type 'http_routes\[400\]\.operation\.acme-rpc\.procedure'/,
    );
  });

  it('may not have the name of another member', async () => {
    const descriptor = { ...describeRpc('cache', undefined), module: 'clash' };
    const findings = await check(descriptor);
    expect(findings.join()).to.match(/'cache', which is the name of another member of operations/);
  });

  it('are part of the digest of a manifest', async () => {
    place.write('one.json', JSON.stringify(createManifest([{ 'acme-rpc': { procedure: 'a' } }])));
    place.write('two.json', JSON.stringify(createManifest([{ 'acme-rpc': { procedure: 'b' } }])));
    const digests = await Promise.all(
      ['one.json', 'two.json'].map((file) => place.run(['digest', file, '--plugins', folder])),
    );
    expect(digests.map(({ code }) => code)).to.deep.equal([0, 0]);
    expect(digests[0]?.stdout)
      .to.match(/^sha256:/)
      .and.not.equal(digests[1]?.stdout);
  });
});
