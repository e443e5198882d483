import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createDescriptor, httpProvider } from '../support/bridge/bridge.js';
import { askWrite, CONFIG, configManifest, readValues } from '../support/bridge/config.js';
import { mountSmallDisk, type SmallDisk } from '../support/chaos/small-disk.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { call } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const MAIN = fileURLToPath(new URL('../../core/main.js', import.meta.url));
const FIELD = { service: 'conf', key: 'text', type: { kind: 'string' }, editable: true } as const;
/** More than the pages that the store has already. */
const LONG = 'x'.repeat(50_000);
const SIZES = { status: 65_536, state: 4_194_304, log: 4_194_304 };

describe('a host on full disks', () => {
  let folder: string;
  let disks: Record<keyof typeof SIZES, SmallDisk>;
  let provider: EchoProvider;
  let host: { readonly port: number };
  let stop: () => Promise<unknown>;
  let routes = 0;

  const logFile = () => join(disks.log.path, 'host.log');
  const readLog = () =>
    readFileSync(logFile(), 'utf8')
      .split('\n')
      .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line) as Record<string, unknown>] : []));
  const countLines = (msg: string) => readLog().filter((line) => line['msg'] === msg).length;
  /** Gives the module one more route. */
  const change = () => {
    routes += 1;
    const paths = Array.from({ length: routes }, (_, index) => `/items-${index}`);
    const manifest = configManifest([FIELD], {
      http_routes: paths.map((path) => ({ method: 'GET' as const, path, capability: CONFIG })),
    });
    const members = { provider: httpProvider(provider.url) };
    const descriptor = createDescriptor('conf', manifest, [CONFIG], members);
    writeFileSync(join(folder, 'modules.d', 'conf.json'), JSON.stringify(descriptor));
  };
  const expectNewRoute = () =>
    waitUntil('the new route', async () => {
      const target = `/modules/conf/http/items-${routes - 1}`;
      return (await call(host, { target })).status === 200;
    });
  const countRoutes = (text: string) => text.match(/\/items-/g)?.length ?? 0;
  const readStatus = () =>
    JSON.parse(readFileSync(join(disks.status.path, 'conf.json.json'), 'utf8')) as {
      readonly digest: string;
    };
  const readDigest = async () => {
    const body = (await call(host, { target: '/modules' })).body.toString();
    return (JSON.parse(body) as { modules: { digest: string }[] }).modules[0]?.digest;
  };

  before(async function () {
    folder = createFolder();
    const paths = { status: 'modules.d/.status', state: 'state', log: 'log' };
    const mounted = Object.entries(SIZES).map(([name, bytes]) => [
      name,
      mountSmallDisk(join(folder, paths[name as keyof typeof SIZES]), bytes),
    ]);
    if (mounted.some(([, disk]) => disk === null)) {
      console.log('      skipped: this user may not mount a file system');
      return this.skip();
    }
    disks = Object.fromEntries(mounted) as typeof disks;
    mkdirSync(join(folder, 'modules.d'), { recursive: true });
    provider = await startEchoProvider();
    change();
    const child = spawn(
      process.execPath,
      [
        ...[MAIN, 'serve', '--env', 'development', '--host', '127.0.0.1', '--port', '0'],
        ...['--modules', join(folder, 'modules.d'), '--state', disks.state.path],
      ],
      { stdio: ['ignore', openSync(logFile(), 'a'), 'inherit'] },
    );
    const exit = once(child, 'exit');
    stop = async () => {
      child.kill('SIGTERM');
      return exit;
    };
    await waitUntil('the host listens', () => countLines('listening') > 0);
    const url = readLog().find(({ msg }) => msg === 'listening')?.['url'];
    host = { port: Number(new URL(String(url)).port) };
    await expectNewRoute();
  });

  after(async () => {
    const exit = await stop?.();
    await provider?.close();
    for (const disk of Object.values(disks ?? {})) disk.unmount();
    if (stop !== undefined) expect(exit).to.deep.equal([0, null]);
  });

  const FAILURES: Readonly<Record<string, (disk: SmallDisk) => () => void>> = {
    full: (disk) => {
      disk.fill();
      return disk.clear;
    },
    'read-only': (disk) => {
      disk.setReadOnly(true);
      return () => disk.setReadOnly(false);
    },
  };

  for (const [kind, begin] of Object.entries(FAILURES)) {
    it(`serves, says so once and writes status files later: ${kind}`, async () => {
      const failed = countLines('status files cannot be written');
      const end = begin(disks.status);
      change();
      await expectNewRoute();
      await waitUntil('a warning', () => {
        return countLines('status files cannot be written') === failed + 1;
      });
      change();
      await expectNewRoute();
      const digest = await readDigest();
      expect(readStatus().digest).to.not.equal(digest);
      const recovered = countLines('status files written again');
      end();
      await waitUntil('the newest status', () => readStatus().digest === digest);
      await waitUntil('recovery', () => {
        return countLines('status files written again') === recovered + 1;
      });
      expect(countLines('status files cannot be written')).to.equal(failed + 1);
    });
  }

  it('rejects writes of values, says so, and accepts them when there is space again', async () => {
    const lastGood = join(disks.state.path, 'last-good');
    const readLastGood = () => readFileSync(join(lastGood, readdirSync(lastGood)[0] ?? ''), 'utf8');
    expect((await askWrite(host, 'text', 'before')).status).to.equal(200);
    await waitUntil('the last good version', () => countRoutes(readLastGood()) >= routes);
    disks.state.fill();
    const rejected = await askWrite(host, 'text', LONG);
    expect(expectProblem(rejected.response, 503).code).to.equal('unavailable');
    await waitUntil('a warning of the store', () => countLines('store operation failed') > 0);
    expect(readLog().find(({ msg }) => msg === 'store operation failed')).to.include({
      level: 'warn',
      code: 'full',
    });
    change();
    await expectNewRoute();
    await waitUntil('a warning', () => countLines('last good versions cannot be stored') === 1);
    disks.state.clear();
    await waitUntil('a write is accepted', async () => {
      return (await askWrite(host, 'text', LONG)).status === 200;
    });
    expect((await readValues(host))['text']?.desired_value).to.equal(LONG);
    await waitUntil('recovery', () => countLines('last good versions stored again') === 1);
    expect(countRoutes(readLastGood())).to.be.at.least(routes);
    expect(countLines('last good versions cannot be stored')).to.equal(1);
  });

  it('serves without a log, and logs when there is space again', async () => {
    disks.log.fill();
    const size = readLog().length;
    for (let index = 0; index < 50; index += 1) {
      expect((await call(host, { target: '/modules/conf/http/items-0' })).status).to.equal(200);
    }
    disks.log.clear();
    await waitUntil('a line', async () => {
      await call(host, { target: '/modules/conf/http/items-0' });
      return readLog().length > size;
    });
    expect(existsSync(logFile())).to.equal(true);
  });
});
