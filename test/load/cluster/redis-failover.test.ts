import { startTcpProxy, type TcpProxy } from '../../store/tcp-proxy.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { call } from '../../support/http/call.js';
import { describeWideModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { started } from '../../support/started.js';
import {
  type RedisServer,
  requireRedisServer,
  startRedisServer,
} from '../../support/store/redis-server.js';

const BACK_WITHIN_MS = 5000;
/** Several attempts to connect. */
const LOST_MS = 4000;

describe('rates over several hosts when Redis fails over', () => {
  const target = { host: '127.0.0.1', port: 0 };
  let servers: readonly [RedisServer, RedisServer] | undefined;
  let provider: EchoProvider;
  let proxy: TcpProxy;
  let host: HostProcess | undefined;

  before(async function () {
    requireRedisServer(this);
    provider = await startEchoProvider();
  });
  beforeEach(async () => {
    servers = [await startRedisServer(), await startRedisServer()];
    target.port = servers[0].port;
    proxy = await startTcpProxy(target);
    // No tokens are drawn ahead of so small a burst: each call asks Redis.
    const rate = { per_second: 1000, burst: 15, shared: true, on_loss: 'closed' };
    host = await startHostProcess({
      args: ['--redis', `redis://127.0.0.1:${proxy.port}`],
      files: { 'crm.json': describeWideModule('crm', provider.url, { rate }) },
    });
    await waitUntil('the first call', async () => (await ask()) === 200);
  });
  afterEach(async () => {
    await host?.stop();
    await proxy?.cut();
    for (const server of servers ?? []) await server.kill();
    host = undefined;
    servers = undefined;
  });
  after(() => provider?.close());

  const ask = async () => {
    const target = '/modules/crm/http/items';
    return (await call(started(host), { target, as: 'dev-service:one:wide.use' })).status;
  };
  const waitForLoss = () => waitUntil('the loss', async () => (await ask()) === 503);
  const waitForReturn = () =>
    waitUntil('Redis counts again', async () => (await ask()) === 200, BACK_WITHIN_MS);
  const pause = () => new Promise((resolve) => setTimeout(resolve, LOST_MS));

  it('leave a server that has become a replica', async () => {
    const [first, second] = started(servers);
    await first.client.replicaof('127.0.0.1', second.port);
    await waitForLoss();
    await pause();
    target.port = second.port;
    await waitForReturn();
  });

  it('leave a connection that leads nowhere', async () => {
    const [first, second] = started(servers);
    first.child.kill('SIGSTOP');
    target.port = second.port;
    await waitForLoss();
    await waitForReturn();
  });

  it('leave a server that accepts connections and does not answer', async () => {
    const [first, second] = started(servers);
    first.child.kill('SIGSTOP');
    await waitForLoss();
    await pause();
    target.port = second.port;
    await waitForReturn();
  });
});
