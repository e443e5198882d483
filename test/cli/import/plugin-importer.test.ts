import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { object } from 'superstruct';
import { ImportFiles } from '../../../core/cli/import/import-files.js';
import { importWithPlugin } from '../../../core/cli/import/import-with-plugin.js';
import { defineAdapter, defineImporter, secretReference } from '../../../core/contract/index.js';
import type { PluginRegistry } from '../../../core/plugin-loader/plugin-registry.js';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { createFolder } from '../../support/temporary-folder.js';

/** Imports what a JSON file says, by an adapter with operations, credentials and a list of endpoints. */
const ENTRY = `import { readFileSync } from 'node:fs';
import { defineAdapter, defineImporter, secretReference } from ${JSON.stringify(CONTRACT_URL)};
import { array, boolean, enums, object, optional, string } from ${JSON.stringify(SUPERSTRUCT_URL)};
const adapter = defineAdapter({
  kind: 'acme-rpc',
  config: object({ endpoints: array(string()), token: optional(secretReference()) }),
  operation: object({ procedure: string() }),
  supports: {},
  open: () => { throw new Error('never'); },
});
const importer = defineImporter({
  name: 'acme',
  options: object({
    auth: optional(string()),
    style: optional(enums(['short', 'long'])),
    all: optional(boolean()),
  }),
  read: async ([source, ...words], options, context) => {
    if (source.startsWith('reject:')) context.reject('the source must not be ' + source);
    if (source.startsWith('throw:')) throw new Error('no answer\\u001b[31m from ' + source);
    const { endpoints = [context.endpoint ?? 'a:1'], ...module } =
      JSON.parse(readFileSync(source, 'utf8'));
    const config = { endpoints, ...(options.auth && { token: options.auth }) };
    const { secret } = await context.resolve('acme-rpc', config);
    if (words[0] === 'echo') throw new Error('401 for ' + secret(options.auth).reveal());
    if (words[0] === 'log') context.log.warn({}, 'refused ' + secret(options.auth).reveal());
    const facts = { words, options, module: context.module, folder: context.folder };
    return {
      provider: { kind: 'acme-rpc', config },
      replaces: ['endpoints'],
      notes: [
        JSON.stringify(facts),
        context.pathInDescriptor('ca.pem'),
        options.auth ? 'secret of ' + secret(options.auth).reveal().length : 'no secret',
      ],
      ...module,
      ...(module.files && { files: { 'set.bin': Buffer.from(module.files) } }),
    };
  },
});
export default { adapters: [adapter], importers: [importer] };`;

const IMPORTERS = [
  {
    name: 'acme',
    source: 'A file of procedures.',
    options: [
      { name: 'auth', value: 'reference', help: 'Credentials, such as env:TOKEN' },
      { name: 'style', choices: ['short', 'long'], help: 'Names of routes' },
      { name: 'all', help: 'Import all of them' },
    ],
  },
];

const createRoute = (path: string, more: object = {}) => ({
  method: 'POST',
  path,
  tags: ['orders'],
  operation: { 'acme-rpc': { procedure: path.slice(1) }, ...more },
});

const MODULE = {
  summary: 'Orders',
  routes: [createRoute('/create'), createRoute('/cancel')],
  leftOut: [{ place: 'Orders/Watch', reason: 'a stream of the client is not carried' }],
};

describe('modgate import with an importer of a plugin', () => {
  let plugins = '';
  let place: Workplace;

  before(() => {
    plugins = createFolder();
    const manifest = { kinds: ['acme-rpc'], importers: IMPORTERS };
    writePlugin(plugins, { name: 'acme', manifest, entry: ENTRY });
  });

  beforeEach(() => {
    place = createWorkplace();
    place.write('orders.json', MODULE);
  });

  const read = (name: string) => readFileSync(join(place.folder, name), 'utf8');
  const importOrders = (...more: string[]) =>
    place.run(
      ['import', 'acme', 'orders.json', '--module', 'orders', '--plugins', plugins, ...more],
      { TOKEN: 'a-secret-token' },
    );

  it('writes a descriptor and a manifest that pass check', async () => {
    const { code, stdout, stderr } = await importOrders(
      '--endpoint',
      'b:2',
      '--style=long',
      '--all',
    );
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const facts = { words: [], options: { style: 'long', all: true }, module: 'orders' };
    expect(stdout.split('\n')).to.deep.equal([
      'wrote modules.d/orders/manifest.json',
      'wrote modules.d/orders.yaml',
      'module orders: 2 of 3 operations became routes, capabilities: orders.orders.write',
      'not mapped (--json lists each place):',
      '  1 × the operation: a stream of the client is not carried (Orders/Watch)',
      `note: ${JSON.stringify({ ...facts, folder: './orders' })}`,
      'note: ../ca.pem',
      'note: no secret',
      '',
    ]);
    expect(read('modules.d/orders.yaml').split('\n').slice(0, 7)).to.deep.equal([
      'apiVersion: modgate/v1',
      'module: orders',
      'provider:',
      '  kind: acme-rpc',
      '  config:',
      '    endpoints:',
      '      - b:2',
    ]);
    const checked = await place.run(['check', '--json', '--plugins', plugins]);
    expect(JSON.parse(checked.stdout).findings).to.deep.equal([]);
    expect(checked.code).to.equal(0);
  });

  it('resolves references of the config like a host', async () => {
    const { code, stdout } = await importOrders('--auth', 'env:TOKEN');
    expect(code).to.equal(0);
    expect(stdout).to.include('note: secret of 14').and.not.include('a-secret-token');
    const missing = await importOrders('--auth', 'env:NO_SUCH', '--out', 'other');
    expect(missing.code).to.equal(1);
    expect(missing.stderr).to.match(/the import of acme from orders\.json failed: .*NO_SUCH/);
  });

  it('never prints a secret that the source repeats', async () => {
    for (const word of ['echo', 'log']) {
      const { stdout, stderr } = await place.run(
        [
          ...['import', 'acme', '--module', 'orders', '--plugins', plugins, '--check'],
          ...['--auth', 'env:TOKEN', '--', 'orders.json', word],
        ],
        { TOKEN: 'a-secret-token' },
      );
      expect(stdout + stderr)
        .to.include('[redacted]')
        .and.not.include('a-secret-token');
    }
  });

  it('takes a command behind -- as its source', async () => {
    const { code, stdout } = await place.run([
      ...['import', 'acme', '--module', 'orders', '--plugins', plugins],
      ...['--', 'orders.json', '--flag', 'x', '--write'],
    ]);
    expect(code).to.equal(0);
    expect(stdout).to.include('"words":["--flag","x","--write"]');
  });

  it('prints the differences of a later import, and writes them with --write', async () => {
    place.write('orders.json', { ...MODULE, files: 'one' });
    expect((await importOrders()).code).to.equal(0);
    expect(read('modules.d/orders/set.bin')).to.equal('one');
    expect((await importOrders('--check')).stdout).to.match(/^no differences\n/);
    place.write('orders.json', {
      ...MODULE,
      routes: [createRoute('/create', { timeout_ms: 5 }), createRoute('/ship')],
      files: 'two',
      endpoints: ['c:3'],
    });
    const earlier = ['orders.yaml', 'orders/manifest.json', 'orders/set.bin'].map((name) =>
      read(`modules.d/${name}`),
    );
    const checked = await importOrders('--check');
    expect(checked.code).to.equal(1);
    expect(checked.stdout.split('\n').slice(0, 8)).to.deep.equal([
      'differences:',
      '  + POST /create /operation/timeout_ms',
      '  + POST /ship',
      '  - POST /cancel',
      '  ~ the file set.bin (clients do not notice)',
      '  ~ provider.config.endpoints in the descriptor (clients do not notice)',
      'use --write to write them',
      'not mapped (--json lists each place):',
    ]);
    const unchanged = ['orders.yaml', 'orders/manifest.json', 'orders/set.bin'].map((name) =>
      read(`modules.d/${name}`),
    );
    expect(unchanged).to.deep.equal(earlier);
    const written = await importOrders('--write');
    expect(written.code).to.equal(0);
    expect(read('modules.d/orders/set.bin')).to.equal('two');
    expect(read('modules.d/orders.yaml')).to.include('["c:3"]');
    expect((await importOrders('--check')).code).to.equal(0);
  });

  it('keeps what operators have added to the endpoints', async () => {
    expect((await importOrders()).code).to.equal(0);
    const descriptor = read('modules.d/orders.yaml').replace('- a:1', '- a:1\n      - d:4');
    place.write('modules.d/orders.yaml', descriptor);
    const { stdout } = await importOrders('--write');
    expect(stdout).to.match(/^no differences\n/);
    expect(read('modules.d/orders.yaml')).to.equal(descriptor);
  });

  it('leaves out what the rules of the host reject, with the reason', async () => {
    const bad = createRoute('/odd', { input_schema: { type: 'object', $anchor: 'x' } });
    place.write('orders.json', { routes: [bad, createRoute('no slash')] });
    const { code, stdout } = await importOrders();
    expect(code).to.equal(0);
    expect(stdout).to.include('1 of 2 operations became routes');
    expect(stdout).to.include('$anchor in input_schema');
    const checked = await place.run(['check', '--json', '--plugins', plugins]);
    expect(JSON.parse(checked.stdout).findings).to.deep.equal([]);
  });

  it('exits with 2 for wrong usage, with 1 for a failure, and escapes messages', async () => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await place.run(['import', ...args, '--plugins', plugins]);
      return `${code} ${stderr.trim()}`;
    };
    const module = ['--module', 'orders'];
    expect(await run('acme', 'reject:it', ...module)).to.equal(
      '2 modgate: the source must not be reject:it',
    );
    expect(await run('acme', 'throw:it', ...module)).to.equal(
      '1 modgate: the import of acme from throw:it failed: no answer\\u001b[31m from throw:it',
    );
    expect(await run('acme', 'orders.json', ...module, '--style', 'odd')).to.match(
      /^2 modgate: .*--style.*short, long/,
    );
    expect(await run('acme', 'orders.json', ...module, '--odd')).to.match(
      /^2 modgate: unknown option '--odd'/,
    );
    expect(await run('acme', ...module)).to.match(/^2 modgate: missing required argument/);
    expect(await run('acne', 'orders.json', ...module)).to.match(
      /^2 modgate: <what> must be openapi, or an importer of a plugin \(did you mean 'acme'\?\)$/,
    );
    expect(await run('swagger', 'orders.json', ...module)).to.match(
      /^2 modgate: <what> must be openapi, or an importer of a plugin \(known here: openapi, .*\bacme\b[^(]*\)$/,
    );
    expect(await run('openapi', 'orders.json', ...module)).to.match(/^2 modgate: .*--endpoint/);
  });

  it('names a source in failures without what may be credentials', async () => {
    const SOURCES = {
      'http://b:1/throw:it': [
        'http://b:1/throw:it?token=s3cret',
        'http://b:1/throw:it;token=s3cret',
      ],
      'throw:it': ['throw:it?token=s3cret', 'throw:it#s3cret'],
      'b:99999/throw:it': [
        ...['http://me:s3cret@b:99999/throw:it', 'me:s3cret@b:99999/throw:it'],
        ...['http://s3cret%40b:99999/throw:it', 's3cret@b:99999/throw:it?a=s3cret'],
        ...['http://me:12/s3cret@b:99999/throw:it', 'http://me/s3cret@a@b:99999/throw:it'],
      ],
      '[redacted]': [
        ...['http://me:a?s3cret@b/throw:it', 'http://me:12?s3cret@b/throw:it'],
        ...['http://me:a#s3cret@b/throw:it', 'http://b/throw:it?to=a@b&token=s3cret'],
        ...['http://me:s3cret', 's3cret@'],
      ],
    };
    for (const [named, sources] of Object.entries(SOURCES)) {
      for (const source of sources) {
        const { code, stderr } = await place.run([
          ...['import', 'acme', source, '--module', 'orders', '--plugins', plugins],
        ]);
        expect(code).to.equal(1);
        expect(stderr).to.include(`from ${named} failed: `).and.not.include('s3cret');
      }
    }
    const rejected = await place.run([
      ...['import', 'acme', 'reject:s3cret@b', '--module', 'orders', '--plugins', plugins],
    ]);
    expect(rejected.stderr).to.equal('modgate: the source must not be b\n');
  });

  it('removes secrets from the fields of log lines', async () => {
    const entries: object[] = [];
    const write = (fields: object, message: string) => entries.push({ ...fields, message });
    const log = { debug: write, info: write, warn: write, error: write };
    const adapter = defineAdapter({
      kind: 'acme-rpc',
      config: object({ token: secretReference() }),
      supports: {},
      open: () => Promise.reject(new Error('never')),
    });
    const importer = defineImporter({
      name: 'acme',
      options: object({}),
      read: async (_source, _options, context) => {
        const { secret } = await context.resolve('acme-rpc', { token: 'env:TOKEN' });
        const text = `refused ${secret('env:TOKEN').reveal()}`;
        context.log.info({ line: text, nested: [{ text }] }, 'refused');
        return context.reject('refused');
      },
    });
    const registry = { importer: async () => importer, adapter: async () => adapter };
    const importing = importWithPlugin(
      { name: 'acme', source: ['orders.json'], options: {}, module: 'orders', endpoint: null },
      {
        plugins: registry as unknown as PluginRegistry,
        files: new ImportFiles('modules.d', 'orders'),
        env: { TOKEN: 'a-secret-token' },
        log,
      },
    );
    expect((await importing.catch((error: unknown) => error)) as Error).to.be.an('error');
    const line = 'refused [redacted]';
    expect(entries).to.deep.equal([{ line, nested: [{ text: line }], message: 'refused' }]);
  });

  it('rejects what an importer returns against the contract', async () => {
    for (const [wrong, message] of [
      [{ routes: 7 }, /routes/],
      [{ ...MODULE, provider: { kind: 'acme-rpc', config: { endpoints: 7 } } }, /endpoints/],
      [{ routes: [{ method: 'POST', path: '/a', tags: ['a'] }] }, /operation\.acme-rpc/],
    ] as const) {
      place.write('orders.json', wrong);
      const { code, stderr } = await importOrders();
      expect(code).to.equal(1);
      expect(stderr)
        .to.match(/it returned an invalid module/)
        .and.match(message);
    }
  });

  it('is listed by the help, with its options after its name, and by modgate plugins', async () => {
    const { code, stdout } = await place.run(['import', '--help', '--plugins', plugins]);
    expect(code).to.equal(0);
    expect(stdout).to.include('acme: A file of procedures.');
    const own = await place.run(['import', 'acme', '--help', '--plugins', plugins]);
    expect(own.stdout).to.match(/--style <word> +Names of routes \(choices: "short", "long"\)/);
    const listed = await place.run(['plugins', '--json', '--plugins', plugins]);
    const { plugins: all } = JSON.parse(listed.stdout) as {
      plugins: { name: string; importers: string[] }[];
    };
    expect(all.find(({ name }) => name === 'acme')?.importers).to.deep.equal(['acme']);
  });
});
