import { expect } from 'chai';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { useFleet } from '../../support/fleet.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { CACHE_ROUTES, statusOf } from '../../support/http/use-cache.js';
import { waitUntil } from '../../support/http/wait-until.js';
import type { HostProcess } from '../../support/start-host.js';

const PATH = '/shared/7';
const TARGET = `/modules/shop/http${PATH}`;
const CALLS = 8;

describe('the kept responses of a fleet', () => {
  const fleet = useFleet();
  let provider: EchoProvider;

  beforeEach(async () => {
    provider = await startEchoProvider();
  });

  afterEach(() => provider.close());

  const start = (...args: string[]) =>
    fleet.start({
      args,
      files: { 'shop.json': describeModule('shop', provider.url, CACHE_ROUTES) },
    });
  /** How many of several calls, each on a connection of its own, get a kept response. */
  const countHits = async (host: HostProcess, target = TARGET) => {
    const responses = await Promise.all(
      Array.from({ length: CALLS }, () => call(host, { target })),
    );
    return responses.filter((response) => statusOf(response)?.startsWith('modgate; hit')).length;
  };
  /** Waits until each process of the host has a response. */
  const fill = async (host: HostProcess, target = TARGET, processes = 1) => {
    const enough = provider.requests.length + processes;
    await waitUntil('hits alone', async () => {
      const hits = await countHits(host, target);
      return hits === CALLS && provider.requests.length >= enough;
    });
  };
  /** Waits until each process of the host has called the provider again. */
  const expectEmpty = async (host: HostProcess, processes: number) => {
    const before = provider.requests.length;
    await waitUntil('calls of the provider', async () => {
      await countHits(host);
      return provider.requests.length >= before + processes;
    });
  };

  it('are removed on each host, and each of its workers, by a write to one', async () => {
    const writer = await start();
    const reader = await start('--workers', '2');
    const other = '/modules/shop/http/shared/8';
    for (const target of [TARGET, other]) {
      await fill(writer, target);
      await fill(reader, target, 2);
    }
    const written = await call(writer, {
      ...{ method: 'PUT', target: TARGET, headers: [JSON_TYPE] },
      body: Buffer.from('1'),
    });
    expect(written.status).to.equal(200);
    await expectEmpty(reader, 2);
    expect(await countHits(reader, other)).to.equal(CALLS);
  });

  it('are removed on each host by modgate purge of one', async () => {
    const [first, other] = [await start(), await start()];
    await fill(first);
    await fill(other);
    const target = '/cache?module=shop&path=/shared/*';
    const as = 'dev-service:ops:modgate.cache.purge';
    expect((await call(first, { method: 'DELETE', target, as })).status).to.equal(204);
    await expectEmpty(other, 1);
  });
});
