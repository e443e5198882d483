import { expect } from 'chai';
import { listFindings } from '../support/cli/check-json.js';
import { createWorkplace } from '../support/cli/run-in.js';
import { call, JSON_TYPE, parseJson } from '../support/http/call.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

/** Carries POST of procedures only, and no raw mode; other kinds break the rules of their checks. */
const ENTRY = `import { defineAdapter } from ${JSON.stringify(CONTRACT_URL)};
import { any, defaulted, object, string } from ${JSON.stringify(SUPERSTRUCT_URL)};
const open = ({ routes }) => ({
  manifest: async () => Buffer.from(JSON.stringify({
    protocol: 'modgate.manifest.v1',
    module_id: 'rpc',
    capabilities: ['rpc.use'],
    http_routes: routes,
  })),
  check: async () => {},
  invoke: async () => {
    const headers = { 'content-type': 'application/json' };
    return { status: 200, headers, body: Buffer.from('"done"') };
  },
});
const common = { config: any(), supports: { manifest: true }, open };
export default { adapters: [
  defineAdapter({
    ...common,
    kind: 'acme-rpc',
    operation: object({ procedure: string(), style: defaulted(string(), 'plain') }),
    checkDescriptor: ({ config, forward_headers, responses }) => [
      ...(responses.mode === 'raw'
        ? [{ path: ['responses', 'mode'], message: 'must not be raw', hint: 'remove it' }]
        : []),
      ...forward_headers.flatMap((name, index) =>
        name === config.denied
          ? [{ path: ['forward_headers', index], message: 'is set by\\u0007the line' }]
          : []),
    ],
    checkManifest: ({ admin }, routes) => [
      ...(admin === undefined ? [] : [{ path: ['admin'], message: 'must be absent' }]),
      ...routes.flatMap(({ declared, options }, index) =>
        declared.method === 'POST' && options.style === 'plain'
          ? []
          : [{ path: ['http_routes', index, 'method'], message: 'must be POST' }]),
    ],
  }),
  defineAdapter({ ...common, kind: 'acme-vague', checkManifest: () => [{ path: 'all' }] }),
  defineAdapter({
    ...common,
    kind: 'acme-broken',
    checkDescriptor: () => { throw new Error('it broke'); },
  }),
] };`;
const KINDS = ['acme-rpc', 'acme-vague', 'acme-broken'];

const CAPABILITY = 'rpc.use';
const AS = `dev-service:tester:${CAPABILITY},modgate.modules.read`;

const createRoutes = (...methods: readonly string[]) =>
  methods.map((method, index) => ({
    method,
    path: `/p${index}`,
    capability: CAPABILITY,
    operation: { 'acme-rpc': { procedure: 'a' } },
  }));
const createManifest = (methods: readonly string[], others: object = {}) => ({
  protocol: 'modgate.manifest.v1',
  module_id: 'rpc',
  capabilities: [CAPABILITY],
  http_routes: createRoutes(...methods),
  ...others,
});
const describeRpc = (manifest: unknown, others: object = {}) => ({
  module: 'rpc',
  provider: { kind: 'acme-rpc', config: {} },
  manifest,
  ...others,
});
const RAW = { responses: { mode: 'raw' } };
const ADMIN = { admin: { entities: [], actions: [] } };

interface ShownModule {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
}

describe('problems that an adapter finds', () => {
  let folder = '';

  const place = use(() => {
    folder = createFolder();
    writePlugin(folder, { name: 'acme', manifest: { kinds: KINDS }, entry: ENTRY });
    return createWorkplace();
  });

  const check = (file: object) => listFindings(place, file, '--plugins', folder);

  it('are shown for a descriptor, each at its place', async () => {
    const config = { denied: 'x-line' };
    const provider = { kind: 'acme-rpc', config };
    const forward_headers = ['x-other', 'x-line'];
    const inline = createManifest(['POST']);
    expect(
      await check(describeRpc({ inline }, { provider, forward_headers, ...RAW })),
    ).to.deep.equal([
      "32 unsupported-by-kind 'forward_headers[1]' is set by the line",
      "35 unsupported-by-kind 'responses.mode' must not be raw",
    ]);
    expect(await check(describeRpc({ inline }))).to.deep.equal([]);
  });

  it('are shown for a manifest, each at its place', async () => {
    const manifest = createManifest(['POST', 'GET'], ADMIN);
    expect(await check(describeRpc({ inline: manifest }))).to.deep.equal([
      "26 unsupported-by-kind 'http_routes[1].method' must be POST",
      "36 unsupported-by-kind 'admin' must be absent",
    ]);
    expect(await check(manifest)).to.deep.equal([
      "19 unsupported-by-kind 'http_routes[1].method' must be POST",
      "29 unsupported-by-kind 'admin' must be absent",
    ]);
  });

  it('are shown at their place in a long manifest, which a thread parses', async () => {
    const methods = Array.from({ length: 400 }, () => 'POST');
    place.write('long.json', JSON.stringify(createManifest([...methods, 'GET']), null, 1));
    const findings = await check(describeRpc('./long.json'));
    expect(findings).to.deep.equal([
      "4009 unsupported-by-kind 'http_routes[400].method' must be POST",
    ]);
  });

  it('are errors of the plugin if they are wrong', async () => {
    const inline = { ...createManifest([]), http_routes: [] };
    const [vague] = await check(describeRpc({ inline }, { provider: { kind: 'acme-vague' } }));
    expect(vague).to.match(/plugin-failed the adapter returns invalid problems$/);
    const [broken] = await check(describeRpc({ inline }, { provider: { kind: 'acme-broken' } }));
    expect(broken).to.match(/^4 plugin-failed it broke$/);
  });

  describe('in a running host', () => {
    const host = use(() => startHost({ args: ['--plugins', folder] }));

    const get = (module: string) =>
      call(host, {
        method: 'POST',
        target: `/modules/${module}/http/p0`,
        as: AS,
        headers: [JSON_TYPE],
        body: Buffer.from('{}'),
      });
    const read = async (module: string) => {
      const { modules } = parseJson(await call(host, { target: '/modules', as: AS }));
      return (modules as readonly ShownModule[]).find(({ name }) => name === module);
    };
    const reasonOf = async (module: string) => {
      await waitUntil('the reason', async () => ((await read(module))?.reason ?? null) !== null);
      return (await read(module))?.reason;
    };

    it('keep a module from loading', async () => {
      const inline = createManifest(['POST']);
      host.drop('bad.json', { ...describeRpc({ inline }, RAW), module: 'bad' });
      expect(await reasonOf('bad')).to.match(
        /^bad\.json:\d+:\d+ 'responses\.mode' must not be raw/,
      );
      expect((await get('bad')).status).to.not.equal(200);
    });

    it('keep the earlier version at a reload', async () => {
      host.drop('rpc.json', describeRpc({ inline: createManifest(['POST']) }));
      await waitUntil('the module', async () => (await get('rpc')).status === 200);
      host.drop('rpc.json', describeRpc({ inline: createManifest(['POST', 'GET']) }));
      expect(await reasonOf('rpc')).to.match(/^rpc\.json:\d+:\d+ 'http_routes\[1\]\.method' must/);
      expect((await get('rpc')).status).to.equal(200);
    });

    it('reject a manifest that the provider sends', async () => {
      const provider = { kind: 'acme-rpc', config: { routes: createRoutes('PUT') } };
      const descriptor = describeRpc({ from: 'provider' }, { provider });
      host.drop('own.json', { ...descriptor, module: 'own' });
      expect(await reasonOf('own')).to.match(/'http_routes\[0\]\.method' must be POST/);
    });
  });
});
