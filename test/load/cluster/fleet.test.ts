import { expect } from 'chai';
import type { FleetStatus } from '../../../core/contract/fleet-status.js';
import { useFleet } from '../../support/fleet.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';
import { createFolder } from '../../support/temporary-folder.js';

const describeCrm = (path: string, overrides: object = {}) =>
  describeModule(
    'crm',
    'http://127.0.0.1:1',
    [{ method: 'GET', path, capability: 'crm.read' }],
    overrides,
  );
const FILES = { 'crm.json': describeCrm('/items') };
const BROKEN = 'module: crm\nprovider: { kind: http, confg: {} }\n';

const statesOf = ({ hosts }: FleetStatus) => hosts.map(({ state }) => state);
const areReady = (count: number) => (fleet: FleetStatus) =>
  fleet.agreed &&
  fleet.hosts.length === count &&
  statesOf(fleet).every((state) => state === 'ready');

describe('a fleet', () => {
  const fleet = useFleet();

  it('agrees when its hosts serve the same, whichever host is asked', async () => {
    const first = await fleet.start({ files: FILES });
    const second = await fleet.start({ files: FILES });
    const agreement = await fleet.until(first, 'agreement', areReady(2));
    expect(agreement.fleet).to.equal('shop');
    expect(agreement.digest).to.match(/^sha256:[0-9a-f]{64}$/);
    const { hosts } = await fleet.until(second, 'agreement', areReady(2));
    expect(hosts.map(({ address }) => address)).to.have.members([first.url, second.url]);
    for (const host of hosts) {
      expect(host.id).to.match(/^host_/);
      expect(host.digest).to.equal(agreement.digest);
      expect(host.rejected).to.deep.equal([]);
      expect(host.workers).to.equal(1);
      expect(Date.parse(host.started_at)).to.be.at.most(Date.parse(host.heartbeat_at));
    }
    // They are of the last heartbeat.
    await waitUntil('the metrics', async () => {
      const metrics = await scrape(first);
      const ready = metrics.sum('modgate_fleet_hosts', { state: 'ready' });
      return ready === 2 && metrics.sum('modgate_fleet_agreed') === 1;
    });
  });

  it('names the host that rejects a module, and does not agree meanwhile', async () => {
    const first = await fleet.start({ files: FILES });
    const second = await fleet.start({ files: FILES });
    await fleet.until(first, 'agreement', areReady(2));
    second.drop('crm.json', BROKEN);
    const agreement = await fleet.until(first, 'a rejected module', ({ hosts }) =>
      hosts.some(({ rejected }) => rejected.length > 0),
    );
    expect(agreement).to.include({ agreed: false, digest: null });
    const rejecting = agreement.hosts.find(({ rejected }) => rejected.length > 0);
    expect(rejecting).to.deep.include({ address: second.url, rejected: ['crm'], state: 'ready' });
    const output = await fleet.run(first, 'fleet');
    expect(output.stdout).to.match(
      /does not serve its file of crm\n(?:.*\n)*.*the hosts do not agree\n$/,
    );
  });

  it('lists a host that stops in order no longer, and one that is killed as lost', async () => {
    const first = await fleet.start({ files: FILES });
    const second = await fleet.start({ files: FILES });
    const third = await fleet.start({ files: FILES });
    await fleet.until(first, 'agreement', areReady(3));
    await second.stop();
    expect((await fleet.read(first)).hosts).to.have.length(2);
    await third.stop('SIGKILL');
    const agreement = await fleet.until(first, 'a lost host', (status) => {
      return statesOf(status).includes('lost');
    });
    expect(agreement.agreed).to.equal(false);
    expect(agreement.hosts.find(({ state }) => state === 'lost')?.address).to.equal(third.url);
    const waited = await fleet.run(first, 'wait', 'crm', '--all-hosts', '--timeout', '1s');
    expect(waited.code).to.equal(1);
    expect(waited.stderr).to.include(`(${third.url}) is lost`);
    const ignoring = await fleet.run(first, 'wait', 'crm', '--all-hosts', '--ignore-lost');
    expect(ignoring).to.include({ code: 0, stdout: 'crm is served by 1 hosts\n' });
  });

  it('keeps the id of a host that starts again', async () => {
    const state = createFolder();
    const options = { files: FILES, args: ['--state', state] };
    const first = await fleet.start(options);
    const [before] = (await fleet.until(first, 'agreement', areReady(1))).hosts;
    await first.stop('SIGKILL');
    const again = await fleet.start(options);
    const { hosts } = await fleet.until(again, 'the new address', ({ hosts: [host] }) => {
      return host?.address === again.url && host.state === 'ready';
    });
    expect(hosts.map(({ id }) => id)).to.deep.equal([before?.id]);
    expect(hosts[0]?.started_at).to.not.equal(before?.started_at);
  });

  it('is waited for until all hosts serve a digest', async () => {
    const first = await fleet.start({ files: FILES });
    const second = await fleet.start({ files: FILES });
    await fleet.until(first, 'agreement', areReady(2));
    const late = await fleet.run(first, 'wait', 'other', '--all-hosts', '--timeout', '0s');
    expect(late.code).to.equal(1);
    expect(late.stderr).to.include('other is not served by all hosts after 0 ms: not by host_');
    const changed = { ...describeCrm('/changed'), module: 'other' };
    first.drop('other.json', changed);
    const waiting = fleet.run(first, 'wait', 'other', '--all-hosts', '--timeout', '60s', '--json');
    await fleet.until(first, 'one host with the module', ({ agreed }) => !agreed);
    second.drop('other.json', changed);
    const { code, stdout } = await waiting;
    expect({ code, outcome: JSON.parse(stdout).outcome }).to.deep.equal({
      code: 0,
      outcome: 'live',
    });
  });

  it('is not waited for any longer when the host rejects the module', async () => {
    const host = await fleet.start({ files: FILES });
    await fleet.until(host, 'agreement', areReady(1));
    const waiting = fleet.run(host, 'wait', 'other', '--all-hosts', '--timeout', '1h', '--json');
    host.drop('other.json', { module: 'other', provider: { kind: 'http', config: {} } });
    const { code, stdout } = await waiting;
    const { outcome, detail } = JSON.parse(stdout);
    expect({ code, outcome }).to.deep.equal({ code: 1, outcome: 'rejected' });
    expect(detail).to.match(/^other is refused \(other\.json\): /);
  });

  it('counts a host with workers once', async () => {
    const host = await fleet.start({ files: FILES, args: ['--workers', '2'] });
    const { hosts } = await fleet.until(
      host,
      'two workers',
      ({ hosts: [firstHost] }) => firstHost?.workers === 2,
    );
    expect(hosts).to.have.length(1);
  });
});

describe('a host without a fleet', () => {
  const setup = useHost(() => FILES);

  it('answers 404, and says what to configure', async () => {
    const problem = expectProblem(await call(setup.host, { target: '/fleet' }), 404);
    expect(problem.next_actions).to.deep.equal(['start it with --fleet and a store of PostgreSQL']);
  });
});
