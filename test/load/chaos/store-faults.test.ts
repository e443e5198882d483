import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  createPostgresBackend,
  createSqliteBackend,
  requirePostgres,
} from '../../store/backend.js';
import { createDescriptor, httpProvider } from '../../support/bridge/bridge.js';
import { askValues, askWrite, CONFIG, configManifest } from '../../support/bridge/config.js';
import { callConsole, signIn } from '../../support/console/console-client.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { call } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const PRELOAD = new URL('../../support/isolation/injected-faults.js', import.meta.url).href;
const ROUTE = { method: 'GET', path: '/items', capability: CONFIG } as const;
const READS = ['values', 'audit', 'calls', 'session', 'sign-in', 'sign-out'] as const;
const WRITES = ['write', 'sign-in', 'sign-out'] as const;

const DRIVERS = {
  SQLite: {
    createBackend: createSqliteBackend,
    /** The minimum number of failures meanwhile. */
    faults: {
      'a query of SQLite throws': READS,
      'a write to SQLite throws': [],
      'a transaction of SQLite throws': WRITES,
    },
  },
  PostgreSQL: {
    createBackend: createPostgresBackend,
    faults: {
      'a query of PostgreSQL throws': READS,
      // A lost connection: calls are read from memory.
      'a query of PostgreSQL rejects': READS.filter((name) => name !== 'calls'),
    },
  },
} as const;

for (const [driver, { createBackend, faults }] of Object.entries(DRIVERS)) {
  describe(`a host whose driver of ${driver} fails unexpectedly`, () => {
    let folder: string;
    let control: string;
    let backend: ReturnType<typeof createBackend>;
    let provider: EchoProvider;
    let host: HostProcess;
    let cookie: string;
    let count = 0;

    before(async function () {
      if (driver === 'PostgreSQL') await requirePostgres(this);
      folder = createFolder();
      control = join(folder, 'fault');
      backend = createBackend();
      provider = await startEchoProvider();
      host = await startHostProcess({
        files: { 'conf.json': describeConf() },
        args: [
          ...['--keep-calls', '1000'],
          ...(backend.url === null ? ['--state', backend.stateDir] : ['--store', backend.url]),
        ],
        env: { INJECTED_FAULT: control, NODE_OPTIONS: `--import ${PRELOAD}` },
      });
    });

    after(async () => {
      const exit = await host?.stop();
      await provider?.close();
      await backend?.dispose();
      if (host === undefined) return;
      expect(exit).to.deep.equal({ code: 0, signal: null });
    });

    beforeEach(async () => {
      cookie = await signIn(host);
    });

    afterEach(() => writeFileSync(control, ''));

    /** Each has another value that the host generates. */
    const describeConf = () => {
      count += 1;
      const text = { service: 'conf', key: 'text', type: { kind: 'string' }, editable: true };
      const secret = { ...text, key: `secret-${count}`, editable: false, generated: { bytes: 16 } };
      const manifest = configManifest([text, secret] as never, { http_routes: [ROUTE] });
      return createDescriptor('conf', manifest, [CONFIG], { provider: httpProvider(provider.url) });
    };
    const countFired = () =>
      existsSync(`${control}.fired`)
        ? readFileSync(`${control}.fired`, 'utf8').split('\n').length
        : 0;
    const read = async (target: string) => (await call(host, { target })).status;
    const REQUESTS: Readonly<Record<string, () => Promise<number>>> = {
      values: async () => (await askValues(host)).status,
      write: async () => (await askWrite(host, 'text', `value ${Math.random()}`)).status,
      audit: () => read('/audit'),
      calls: () => read('/calls'),
      session: async () => (await callConsole(host, { path: '/session', cookie })).status,
      'sign-in': () =>
        signIn(host).then(
          () => 204,
          ({ message }: Error) => Number(message.slice(-3)),
        ),
      'sign-out': async () =>
        (await callConsole(host, { method: 'DELETE', path: '/session', cookie })).status,
    };

    for (const [fault, failing] of Object.entries(faults)) {
      it(`serves, fails what needs the store, and recovers: ${fault}`, async () => {
        const fired = countFired();
        writeFileSync(control, fault);
        host.drop('conf.json', describeConf());
        for (const [name, ask] of Object.entries(REQUESTS)) {
          const status = await ask();
          if ((failing as readonly string[]).includes(name)) {
            expect([500, 503], `${name}: ${status}`).to.include(status);
          }
          expect(await read('/modules/conf/http/items')).to.equal(200);
        }
        await waitUntil('background work has failed', () => countFired() > fired + 5);
        writeFileSync(control, '');
        for (const [name, ask] of Object.entries(REQUESTS)) {
          const isSession = name.startsWith('sign-');
          await waitUntil(`${name} again`, async () => {
            cookie = await signIn(host).catch(() => cookie);
            return (await ask()) === (isSession ? 204 : 200);
          });
        }
      });
    }
  });
}
