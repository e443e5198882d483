import { expect } from 'chai';
import { askWrite, CONFIG, configDescriptor } from '../../support/bridge/config.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { type EchoProvider, startEchoProvider } from '../../support/echo-provider.js';
import { useFleet } from '../../support/fleet.js';
import { call, parseJson } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import type { HostProcess } from '../../support/start-host.js';

interface Calls {
  readonly hosts?: string;
  readonly calls: readonly { readonly host?: string; readonly path_named?: string }[];
}

interface Audit {
  readonly rows: readonly { readonly id: number; readonly target: string }[];
}

/** The clock of a process, which is a day ahead. */
const AHEAD = 'const now = Date.now; Date.now = () => now() + 86_400_000;';

describe('the records of a fleet', () => {
  const fleet = useFleet();
  let provider: EchoProvider;

  before(async () => {
    provider = await startEchoProvider();
  });
  after(() => provider.close());

  const start = async (count: number, ...args: string[]) => {
    const fields = ['one', 'two'].map((key) => {
      return { service: 'conf', key, type: { kind: 'int' }, default: 0, editable: true } as const;
    });
    const files = { 'conf.json': configDescriptor(provider.url, fields) };
    const hosts: HostProcess[] = [];
    for (let index = 0; index < count; index += 1) hosts.push(await fleet.start({ files, args }));
    const [first] = hosts as [HostProcess];
    const status = await fleet.until(first, 'all hosts', ({ agreed, hosts: all }) => {
      return agreed && all.length === count && all.every(({ state }) => state === 'ready');
    });
    const idOf = ({ url }: HostProcess) => status.hosts.find(({ address }) => address === url)?.id;
    return { hosts, ids: hosts.map(idOf) };
  };
  const ask = (host: HostProcess, path: string) =>
    call(host, { target: `/modules/conf/http/${path}`, as: `dev-service:load:${CONFIG}` });
  const readCalls = async (host: HostProcess, query: string) => {
    const answer = await call(host, { target: `/calls${query}` });
    expect(answer.status).to.equal(200);
    return parseJson(answer) as unknown as Calls;
  };

  it('name the host of each call, whichever is asked, where calls are kept', async () => {
    const { hosts, ids } = await start(2, '--keep-calls', '1000');
    const [first, second] = hosts as [HostProcess, HostProcess];
    await ask(first, 'a');
    await ask(second, 'b');
    let seen = await readCalls(first, '?module=conf');
    await waitUntil('the calls of both', async () => {
      seen = await readCalls(first, '?module=conf');
      return seen.calls.length === 2;
    });
    expect(seen.hosts).to.equal('all');
    expect(seen.calls.map(({ host }) => host)).to.deep.equal([ids[1], ids[0]]);
    const chosen = await readCalls(second, `?module=conf&host=${ids[0]}`);
    expect(chosen.calls.map(({ host }) => host)).to.deep.equal([ids[0]]);
    expect((await call(first, { target: '/calls?host=other' })).status).to.equal(400);
  });

  it('are kept when the clock of another host is a day ahead', async () => {
    const { hosts } = await start(1, '--keep-calls', '1000', '--keep-calls-hours', '1');
    const [usual] = hosts as [HostProcess];
    await ask(usual, 'a');
    const ahead = await fleet.start({
      files: { 'conf.json': configDescriptor(provider.url, []) },
      args: ['--keep-calls', '1000', '--keep-calls-hours', '1'],
      env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(AHEAD)}` },
    });
    // It removes old calls after each hundred.
    for (let count = 0; count < 120; count += 1) await ask(ahead, 'b');
    await waitUntil('its calls', async () => {
      return (await readCalls(ahead, '?module=conf&limit=200')).calls.length > 100;
    });
    const kept = await readCalls(usual, '?module=conf&limit=200');
    expect(kept.calls).to.have.length(121);
  });

  it('say that calls are those of one host, where they are not kept', async () => {
    const { hosts, ids } = await start(2);
    const [first, second] = hosts as [HostProcess, HostProcess];
    await ask(first, 'a');
    await ask(second, 'b');
    const { hosts: whose, calls } = await readCalls(first, '?module=conf');
    expect(whose).to.equal('one');
    expect(calls.map(({ host }) => host)).to.deep.equal([ids[0]]);
  });

  it('have the audit of all hosts, in one chain', async () => {
    const { hosts } = await start(2);
    const [first, second] = hosts as [HostProcess, HostProcess];
    expect((await askWrite(first, 'one', 1)).status).to.equal(200);
    expect((await askWrite(second, 'two', 2)).status).to.equal(200);
    for (const host of hosts) {
      const { rows } = parseJson(await call(host, { target: '/audit' })) as unknown as Audit;
      expect(rows.map(({ id, target }) => [id, target])).to.deep.equal([
        [1, 'conf/one'],
        [2, 'conf/two'],
      ]);
    }
    const verified = await runModgate(['audit', '--verify', '--store', fleet.url]);
    expect(verified.code, verified.stderr).to.equal(0);
  });
});
