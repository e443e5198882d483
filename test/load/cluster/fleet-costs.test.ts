import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { POSTGRES_URL } from '../../store/backend.js';
import { configDescriptor, readValues, writeValue } from '../../support/bridge/config.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { useFleet } from '../../support/fleet.js';
import { call } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { useWorkspace } from '../../support/releases.js';
import type { HostProcess } from '../../support/start-host.js';
import { startCountingProxy } from '../../support/store/counting-proxy.js';

type CountingProxy = Awaited<ReturnType<typeof startCountingProxy>>;

const IDLE_MS = 20_000;
const MAX_STATEMENTS_PER_S = 2;
const CONNECTIONS_OF_HOST = 3;
const AT_ONCE = 200;

describe('what a host of a fleet costs the store', () => {
  const fleet = useFleet();
  const workspace = useWorkspace();
  let provider: EchoProvider;
  let counted: CountingProxy;

  before(async () => {
    provider = await startEchoProvider();
  });
  after(() => provider.close());
  beforeEach(async () => {
    const { hostname, port } = new URL(POSTGRES_URL);
    counted = await startCountingProxy({ host: hostname, port: Number(port || 5432) });
    workspace.write('conf.json', descriptor());
  });
  afterEach(async () => {
    for (const host of fleet.hosts) await host.kill();
    await counted.close();
  });

  const descriptor = () =>
    configDescriptor(provider.url, [
      { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
    ]);
  const start = async (...more: string[]) => {
    const args = [...fleet.through(counted.port), '--modules', 'store:', '--keep-calls', '1000'];
    const host = await fleet.start({ args: [...args, ...more] });
    await fleet.until(host, 'the host', ({ hosts: [first] }) => first?.state === 'ready');
    expect((await workspace.publish(host)).code).to.equal(0);
    await waitUntil('the release', () => readValues(host).then(Boolean, () => false));
    return host;
  };
  const askAtOnce = (host: HostProcess) =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        if (index % 4 === 0) return writeValue(host, 'size', index);
        if (index % 4 === 1) return call(host, { target: '/calls' });
        if (index % 4 === 2) return call(host, { target: '/audit' });
        return readValues(host);
      }),
    );

  for (const workers of [null, 2, 4]) {
    const maximum = CONNECTIONS_OF_HOST + (workers ?? 1) - 1;
    const name = workers === null ? 'one process' : `${workers} workers`;

    it(`is at most ${maximum} connections of ${name}, whatever is asked at once`, async () => {
      const host = await start(...(workers === null ? [] : ['--workers', String(workers)]));
      await askAtOnce(host);
      console.log(`      connections: ${counted.maxConnections}`);
      expect(counted.maxConnections).to.be.at.most(maximum);
    });
  }

  it('is at most two statements a second while it is idle', async () => {
    const host = await start();
    await askAtOnce(host);
    // The records of these calls are written within half a second.
    await pause(2000);
    const before = counted.statements;
    await pause(IDLE_MS);
    const perSecond = (counted.statements - before) / (IDLE_MS / 1000);
    console.log(`      statements a second: ${perSecond.toFixed(2)}`);
    expect(perSecond).to.be.within(0.5, MAX_STATEMENTS_PER_S);
  });
});
