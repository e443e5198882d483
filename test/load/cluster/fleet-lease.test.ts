import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import { POSTGRES_URL, runSql } from '../../store/backend.js';
import { startTcpProxy, type TcpProxy } from '../../store/tcp-proxy.js';
import type { DescriptorMembers } from '../../support/bridge/bridge.js';
import { configDescriptor, readDeliveries, writeValue } from '../../support/bridge/config.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { useFleet } from '../../support/fleet.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { requireOwnAddress } from '../../support/own-address.js';

const FIELDS: readonly ConfigField[] = [
  { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
];
/** Attempts of the second host: they take longer than the longest pause between those of the first. */
const REPEATS = 8;
const DEADLINE_MS = 90_000;

describe('the host that delivers for its fleet', () => {
  const fleet = useFleet();
  let provider: EchoProvider;
  let proxy: TcpProxy;
  let url: string;

  beforeEach(async function () {
    const address = requireOwnAddress(this);
    provider = await startEchoProvider(address);
    url = `http://${address}:${provider.port}`;
    const server = new URL(POSTGRES_URL);
    proxy = await startTcpProxy({ host: server.hostname, port: Number(server.port || 5432) });
  });
  afterEach(async () => {
    for (const host of fleet.hosts) await host.kill();
    await proxy.cut();
    await provider.close();
  });

  const revisions = () => readDeliveries(provider).map(({ revision }) => revision);
  const startTwo = async (members: DescriptorMembers = {}) => {
    const files = { 'conf.json': configDescriptor(url, FIELDS, members) };
    const first = await fleet.start({ files, args: fleet.through(proxy.port) });
    await waitUntil('the first delivery', () => revisions().length > 0);
    const second = await fleet.start({ files });
    await fleet.until(second, 'both hosts', ({ agreed, hosts }) => agreed && hosts.length === 2);
    return { first, second };
  };

  for (const [how, lose, restore] of [
    ['its connections are reset', () => proxy.cut(), () => proxy.restore()],
    ['its store does not respond', () => proxy.block(), () => proxy.unblock()],
  ] as const) {
    it(`sends nothing after another one has taken over while ${how}`, async () => {
      const { first, second } = await startTwo();
      provider.answer({ status: 503 });
      await writeValue(first, 'size', 111);
      await waitUntil('its attempts', () => revisions().filter((one) => one === 1).length > 1);
      await lose();
      await writeValue(second, 'size', 222);
      const since = () => revisions().slice(revisions().indexOf(2));
      const isTakenOver = () => revisions().includes(2) && since().length >= REPEATS;
      await waitUntil('the attempts of the other', isTakenOver, DEADLINE_MS);
      expect(since().filter((revision) => revision !== 2)).to.deep.equal([]);
      provider.answer({});
      await restore();
      const count = revisions().length;
      await waitUntil('an accepted delivery', () => revisions().length > count, DEADLINE_MS);
      await writeValue(first, 'size', 333);
      await waitUntil('the delivery', () => revisions().at(-1) === 3, DEADLINE_MS);
      expect(since()).to.deep.equal(since().toSorted());
    });
  }

  it('ends an attempt that the store does not confirm any more', async () => {
    const { first } = await startTwo({ limits: { timeout_ms: 60_000 } });
    provider.answer({ delayMs: 60_000 });
    await writeValue(first, 'size', 111);
    await waitUntil('the attempt', () => revisions().at(-1) === 1);
    proxy.block();
    const isEnded = () => first.logs().some(({ msg }) => msg === 'configuration not delivered yet');
    await waitUntil('its end', isEnded, 30_000);
  });

  it('waits while another one may act', async () => {
    const { first, second } = await startTwo();
    const lease = `${fleet.schema}.fleet_lease`;
    await runSql(`update ${lease} set holder = 'host_other', until = '9'`);
    // A lease that it has renewed shortly before is used without the store.
    await waitUntil('the end of its own lease', async () => {
      await writeValue(second, 'size', revisions().length);
      return first.logs().some(({ reason }) => reason === 'another host may deliver');
    });
    const count = revisions().length;
    await runSql(`update ${lease} set until = '0'`);
    await waitUntil('the delivery', () => revisions().length > count, DEADLINE_MS);
  });
});
