import { chmodSync, lchownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createDescriptor, httpProvider } from '../support/bridge/bridge.js';
import { askWrite, CONFIG, configManifest } from '../support/bridge/config.js';
import { server } from '../support/certificates.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { call, parseJson } from '../support/http/call.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type ModgateProcess, spawnModgate, startModgate } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';

/** Permissions do not hold for root, so the host runs as another user. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const ROUTES = toRoutes(['GET /items'], 'use');
const NOTHING = 0;
const READ_ONLY = 0o555;
const STACK = /\n\s+at |"stack"/;
const FIELD = { service: 'conf', key: 'text', type: { kind: 'string' }, editable: true } as const;

describe('a host whose user lacks permissions', () => {
  let folder: string;
  let provider: EchoProvider;
  let host: ModgateProcess | undefined;

  before(async function () {
    const reason = process.getuid === undefined ? 'no permissions of POSIX' : await findObstacle();
    if (reason !== null) {
      console.log(`      skipped: ${reason}`);
      return this.skip();
    }
    provider = await startEchoProvider();
  });

  after(() => provider?.close());

  beforeEach(() => {
    folder = createFolder();
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'state'));
    write('modules.d/good.json', describeModule('good', provider.url, ROUTES));
  });

  afterEach(async () => {
    const exit = await host?.stop();
    const output = host?.output() ?? '';
    const wasStarted = host !== undefined;
    host = undefined;
    expect(output).to.not.match(STACK);
    if (wasStarted) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  const write = (name: string, content: string | object) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(
      join(folder, name),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  };
  /** Gives the folder to the user of the host, and then takes permissions of some paths. */
  const deny = (modes: Readonly<Record<string, number>>) => {
    giveTo(folder);
    for (const [name, mode] of Object.entries(modes)) chmodSync(join(folder, name), mode);
  };
  const list = (...args: readonly string[]) => [
    ...['serve', '--env', 'development', '--host', '127.0.0.1', '--port', '0'],
    ...['--modules', join(folder, 'modules.d'), '--state', join(folder, 'state')],
    ...args.map((arg) => arg.replace(/^@/, `${folder}/`)),
  ];
  const start = async (...args: readonly string[]) => {
    host = await startModgate(list(...args), {}, NOBODY);
    return host;
  };
  const findLine = (msg: string) => host?.logs().find((line) => line['msg'] === msg);
  const expectServing = async ({ port }: ModgateProcess) => {
    expect((await call({ port }, { target: '/modules/good/http/items' })).status).to.equal(200);
  };

  it('names what it cannot read, and serves the rest', async () => {
    write('modules.d/closed.json', describeModule('closed', provider.url, ROUTES));
    const byFile = { ...describeModule('x', provider.url, ROUTES), manifest: './x/manifest.json' };
    write('modules.d/by-file.json', byFile);
    write('modules.d/x/manifest.json', {});
    const auth = { bearer: `file:${join(folder, 'secret')}` };
    write('modules.d/secret.json', {
      ...describeModule('secret', provider.url, ROUTES),
      provider: { kind: 'http', config: { endpoints: [provider.url], auth } },
    });
    write('secret', 'hunter2');
    write('modules.d/local.json', {
      ...describeModule('local', provider.url, ROUTES),
      provider: { kind: 'local', config: { file: './y/index.mjs' } },
    });
    write('modules.d/y/index.mjs', 'export default async () => ({})');
    write('plugins/one/plugin.json', {});
    write('plugins/two/plugin.json', {
      ...{ name: 'two', version: '1.0.0', contract: 1, kinds: ['two'], entry: './index.mjs' },
    });
    write('plugins/two/index.mjs', 'export default {}');
    deny({
      'modules.d/closed.json': NOTHING,
      'modules.d/x/manifest.json': NOTHING,
      secret: NOTHING,
      'modules.d/y/index.mjs': NOTHING,
      'plugins/one': NOTHING,
      'plugins/two/index.mjs': NOTHING,
    });
    write('modules.d/two.json', {
      ...describeModule('two', provider.url, ROUTES),
      provider: { kind: 'two', config: {} },
    });
    const running = await start('--plugins', '@plugins');
    let reasons: Record<string, string> = {};
    await waitUntil('all modules', async () => {
      const { modules } = parseJson(await call(running, { target: '/modules' })) as {
        modules: { file: string; reason: string | null }[];
      };
      reasons = Object.fromEntries(modules.map(({ file, reason }) => [file, reason ?? '']));
      return Object.keys(reasons).length === 6 && findLine('plugin rejected') !== undefined;
    });
    await expectServing(running);
    expect(reasons['closed.json']).to.equal('closed.json the file cannot be read (EACCES)');
    expect(reasons['by-file.json']).to.match(/x\/manifest\.json', which cannot be read \(EACCES\)/);
    expect(reasons['secret.json']).to.match(/cannot be read \(EACCES\)/);
    expect(reasons['local.json']).to.match(/EACCES/);
    expect(reasons['two.json']).to.match(/EACCES/);
    expect(findLine('plugin rejected')?.['reason']).to.match(/cannot be read \(EACCES\)/);
    expect(running.output()).to.not.include('hunter2');
  });

  it('names the file of a plugin that cannot be compared with its digests', async () => {
    const manifest = { name: 'two', version: '1.0.0', contract: 1, kinds: ['two'] };
    const digests = { 'index.mjs': `sha256:${'0'.repeat(64)}` };
    write('plugins/two/plugin.json', { ...manifest, entry: './index.mjs', digests });
    write('plugins/two/index.mjs', 'export default {}');
    write('modules.d/two.json', {
      ...describeModule('two', provider.url, ROUTES),
      provider: { kind: 'two', config: {} },
    });
    deny({ 'plugins/two/index.mjs': NOTHING });
    await start('--plugins', '@plugins', '--plugin-integrity', 'enforce');
    await waitUntil('the module', () => findLine('module changed') !== undefined);
    const reasons = host?.logs().map(({ reason }) => reason);
    expect(reasons?.join('\n')).to.include("digests: 'index.mjs' cannot be read (EACCES)");
  });

  it('names what it cannot write, and serves', async () => {
    write('modules.d/.status/x', '');
    const manifest = configManifest([FIELD]);
    const descriptor = createDescriptor('conf', manifest, [CONFIG], {
      provider: httpProvider(provider.url),
    });
    write('modules.d/conf.json', descriptor);
    deny({ 'modules.d/.status': READ_ONLY, state: READ_ONLY });
    const running = await start();
    await waitUntil('the warnings', () =>
      [
        'status files cannot be written',
        'last good versions cannot be stored',
        'store unavailable: config operations respond with 503',
      ].every((msg) => findLine(msg) !== undefined),
    );
    expect(findLine('store unavailable: config operations respond with 503')).to.include({
      reason: 'the store file cannot be opened (EACCES)',
    });
    await expectServing(running);
    expect((await askWrite(running, 'text', 'x')).status).to.equal(503);
  });

  it('keeps what it has read when permissions are taken away', async () => {
    write('tokens.json', { tokens: [] });
    deny({});
    const running = await start('--tokens', '@tokens.json');
    await expectServing(running);
    chmodSync(join(folder, 'modules.d'), NOTHING);
    chmodSync(join(folder, 'tokens.json'), NOTHING);
    await waitUntil('the errors', () =>
      [
        'modules folder unavailable; serving the last loaded modules',
        'tokens file is invalid; keeping the last good content',
      ].every((msg) => findLine(msg) !== undefined),
    );
    await expectServing(running);
    chmodSync(join(folder, 'modules.d'), 0o755);
    await waitUntil(
      'the folder again',
      () => findLine('modules folder available again') !== undefined,
    );
  });

  it('exits with 2 and one line when it cannot create the state folder', async () => {
    mkdirSync(join(folder, 'locked'));
    deny({ locked: READ_ONLY });
    const spawned = spawnModgate(list('--state', '@locked/new/state'), {}, NOBODY);
    expect(await spawned.exit).to.deep.equal({ code: 2, signal: null });
    const locked = join(folder, 'locked');
    expect(spawned.stderr()).to.equal(
      `modgate: --state must be a folder: ${locked} cannot be written (EACCES)\n`,
    );
  });

  const AT_START: Readonly<Record<string, readonly [args: readonly string[], reason: RegExp]>> = {
    'modules.d': [[], /--modules must be a folder .* cannot be read \(EACCES\)/],
    'tokens.json': [['--tokens', '@tokens.json'], /tokens\.json cannot be read \(EACCES\)/],
    'issuers.json': [['--issuers', '@issuers.json'], /issuers\.json cannot be read \(EACCES\)/],
    'key.pem': [
      ['--tls-cert', '@cert.pem', '--tls-key', '@key.pem'],
      /key\.pem cannot be read \(EACCES\)/,
    ],
    'host.yaml': [['--config', '@host.yaml'], /host\.yaml cannot be read \(EACCES\)/],
    plugins: [['--plugins', '@plugins'], /--plugins must be a folder .* cannot be read \(EACCES\)/],
    state: [[], /identity\/keys\.json cannot be used \(cannot be read \(EACCES\)\)/],
  };
  for (const [name, [args, reason]] of Object.entries(AT_START)) {
    it(`exits with 2 and one line when it cannot read ${name}`, async () => {
      for (const file of ['tokens.json', 'issuers.json', 'host.yaml']) write(file, '{}');
      write('cert.pem', server.cert);
      write('key.pem', server.key);
      mkdirSync(join(folder, 'plugins'));
      deny({ [name]: NOTHING });
      const spawned = spawnModgate(list(...args), {}, NOBODY);
      expect(await spawned.exit).to.deep.equal({ code: 2, signal: null });
      expect(spawned.stderr())
        .to.match(reason)
        .and.match(/^modgate: .*\n$/);
      expect(spawned.stdout()).to.not.match(STACK);
    });
  }
});

/** The reason why the host cannot run as that user. */
async function findObstacle(): Promise<string | null> {
  const spawned = spawnModgate(['--version'], {}, NOBODY);
  const { code } = await spawned.exit.catch(() => ({ code: null }));
  return code === 0 ? null : 'a user without privileges cannot read the build';
}

function giveTo(path: string): void {
  const { uid, gid } = NOBODY;
  if (uid !== undefined && gid !== undefined) lchownSync(path, uid, gid);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) giveTo(join(path, name));
}
