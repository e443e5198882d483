import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { FleetStatus } from '../../../core/contract/fleet-status.js';
import { POSTGRES_URL, runSql } from '../../store/backend.js';
import { startTcpProxy, type TcpProxy } from '../../store/tcp-proxy.js';
import {
  askWrite,
  CONFIG,
  configDescriptor,
  readDeliveries,
  readValues,
  writeValue,
} from '../../support/bridge/config.js';
import { callConsole, signIn } from '../../support/console/console-client.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { useFleet } from '../../support/fleet.js';
import { call } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { requireOwnAddress } from '../../support/own-address.js';
import type { HostProcess } from '../../support/start-host.js';

const JUMP_AFTER_MS = 3000;
const DAY_MS = 86_400_000;
/** The clock of a process, which jumps ahead by a day. */
const JUMPING_CLOCK = `const Real = Date;
  const start = Real.now();
  const read = () => Real.now() + (Real.now() - start > ${JUMP_AFTER_MS} ? ${DAY_MS} : 0);
  globalThis.Date = class extends Real {
    constructor(...given) { given.length > 0 ? super(...given) : super(read()); }
    static now() { return read(); }
  };`;

const isAgreed = ({ agreed, hosts }: FleetStatus) =>
  agreed && hosts.length === 2 && hosts.every(({ state }) => state === 'ready');

describe('a fleet that loses something', () => {
  const fleet = useFleet();
  let provider: EchoProvider;
  let proxy: TcpProxy;
  const server = new URL(POSTGRES_URL);
  const target = { host: server.hostname, port: Number(server.port || 5432) };

  before(async () => {
    provider = await startEchoProvider();
  });
  after(() => provider.close());
  beforeEach(async () => {
    proxy = await startTcpProxy(target);
  });
  afterEach(async () => {
    for (const host of fleet.hosts) await host.kill();
    await proxy.cut();
  });

  const files = (url = provider.url) => ({
    'conf.json': configDescriptor(url, [
      { service: 'conf', key: 'size', type: { kind: 'int' }, default: 50, editable: true },
    ]),
  });
  const startBehind = (port: number) => fleet.start({ files: files(), args: fleet.through(port) });
  const ask = async (host: HostProcess) => {
    const target = '/modules/conf/http/items';
    return (await call(host, { target, as: `dev-service:load:${CONFIG}` })).status;
  };

  it('continues when half of it has lost the store, and agrees again on its return', async () => {
    const cut = await startBehind(proxy.port);
    const whole = await fleet.start({ files: files() });
    await fleet.until(whole, 'agreement', isAgreed);
    const usual = await ask(cut);
    await proxy.cut();
    const { hosts, agreed } = await fleet.until(whole, 'a lost host', (status) =>
      status.hosts.some(({ state }) => state === 'lost'),
    );
    expect(agreed).to.equal(false);
    expect(hosts.find(({ state }) => state === 'lost')?.address).to.equal(cut.url);
    expect(await ask(cut)).to.equal(usual);
    expect((await call(cut, { target: '/fleet' })).status).to.equal(503);
    expect((await askWrite(cut, 'size', 60)).status).to.equal(503);
    await writeValue(whole, 'size', 61);
    await proxy.restore();
    await fleet.until(whole, 'agreement', isAgreed);
    await waitUntil('the value that was written meanwhile', async () => {
      return (await readValues(cut))['size']?.desired_value === 61;
    });
    await waitUntil(
      'its delivery',
      () => readDeliveries(provider).at(-1)?.values['conf/size'] === 61,
    );
  });

  it('keeps a host of an older version on the store that a newer one has migrated', async () => {
    const older = await startBehind(proxy.port);
    const other = await fleet.start({ files: files() });
    await fleet.until(other, 'agreement', isAgreed);
    await runSql(`
      alter table ${fleet.schema}.fleet_host add column later text;
      alter table ${fleet.schema}.config_value add column later text;
      create table ${fleet.schema}.later (id text);
      insert into ${fleet.schema}.schema_version values (99, 'now', 15)
    `);
    // It opens the store again.
    await proxy.cut();
    await proxy.restore();
    await waitUntil('the store', async () => (await askWrite(older, 'size', 62)).status === 200);
    await fleet.until(other, 'agreement', isAgreed);
    const again = await fleet.start({ files: files() });
    expect((await readValues(again))['size']?.desired_value).to.equal(62);
  });

  it('delivers configuration by one host, and by another one when that is lost', async function () {
    const address = requireOwnAddress(this);
    const shared = await startEchoProvider(address);
    try {
      const url = `http://${address}:${shared.port}`;
      const delivering = await fleet.start({ files: files(url) });
      const other = await fleet.start({ files: files(url) });
      await fleet.until(other, 'agreement', isAgreed);
      const countOf = (expected: number) =>
        readDeliveries(shared).filter(({ revision }) => revision === expected).length;
      for (const revision of [1, 2]) {
        await writeValue(other, 'size', 60 + revision);
        await waitUntil('the delivery', () => countOf(revision) > 0);
      }
      expect([countOf(1), countOf(2)]).to.deep.equal([1, 1]);
      await delivering.kill();
      await writeValue(other, 'size', 63);
      await waitUntil('the delivery of the other', () => countOf(3) > 0, 60_000);
    } finally {
      await shared.close();
    }
  });

  it('accepts no session on one host that has ended on another', async () => {
    const stale = await startBehind(proxy.port);
    const other = await fleet.start({ files: files() });
    await fleet.until(other, 'agreement', isAgreed);
    const readWith = async (cookie: string) =>
      (await callConsole(stale, { path: '/modules', cookie })).status;
    const signOut = async (cookie: string) =>
      (await callConsole(other, { method: 'DELETE', path: '/session', cookie })).status;
    const [first, second] = [await signIn(other), await signIn(other)];
    expect([await readWith(first), await readWith(second)]).to.deep.equal([200, 200]);
    expect(await signOut(first)).to.equal(204);
    expect([await readWith(first), await readWith(second)]).to.deep.equal([401, 200]);
    // A host without the store cannot know, and lets no session in.
    await proxy.cut();
    expect(await signOut(second)).to.equal(204);
    expect(await readWith(second)).to.equal(503);
    await proxy.restore();
    await waitUntil('the store', async () => (await readWith(second)) !== 503);
    expect(await readWith(second)).to.equal(401);
  });

  it('takes times of the store where the clock of a host jumps by a day', async () => {
    const env = {
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(JUMPING_CLOCK)}`,
    };
    const host = await fleet.start({ files: files(), env });
    const other = await fleet.start({ files: files() });
    await pause(JUMP_AFTER_MS);
    const status = await fleet.until(other, 'agreement', isAgreed);
    const beats = () => fleet.read(host);
    const before = status.hosts.find(({ address }) => address === host.url)?.heartbeat_at ?? '';
    await waitUntil('a heartbeat after the jump', async () => {
      const { hosts } = await beats();
      return (hosts.find(({ address }) => address === host.url)?.heartbeat_at ?? '') > before;
    });
    await waitUntil('the warning', () =>
      host.logs().some(({ msg }) => msg === 'clock differs from that of the store'),
    );
    const { hosts, agreed } = await beats();
    expect(agreed).to.equal(true);
    for (const { heartbeat_at } of hosts) {
      expect(Math.abs(Date.parse(heartbeat_at) - Date.now())).to.be.below(DAY_MS / 2);
    }
  });
});
