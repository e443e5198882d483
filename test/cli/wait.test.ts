import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { describeEntry, startFakeHost } from '../support/cli/fake-host.js';
import { createWorkplace } from '../support/cli/run-in.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startHost } from '../support/start-host.js';
import { useEach } from '../support/use.js';

const ENDPOINT = 'http://127.0.0.1:4100';
const TOKEN = 'dev-service:ops:modgate.modules.read';
const UNKNOWN_DIGEST = `sha256:${'0'.repeat(64)}`;
const GOOD = describeCrm('/items');
const BAD = 'module: crm\nprovider: { kind: http, confg: {} }\n';

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

function describeCrm(path: string): object {
  return describeModule('crm', ENDPOINT, [{ method: 'GET', path, capability: 'crm.read' }]);
}

describe('modgate wait', () => {
  const host = useEach(() => startHost({ files: { 'crm.json': GOOD } }));

  function wait(...args: string[]) {
    return runModgate(['wait', ...args, '--url', host.url], { MODGATE_TOKEN: TOKEN });
  }

  async function digestsOf(descriptor: object): Promise<{ digest: string; config_digest: string }> {
    const place = createWorkplace();
    const file = place.write('crm.json', descriptor);
    const { stdout } = await place.run(['check', file, '--json']);
    const { files } = JSON.parse(stdout) as { files: [{ digest: string; config_digest: string }] };
    return files[0];
  }

  it('returns immediately for a live module, by name and by each digest', async () => {
    const { digest, config_digest } = await digestsOf(GOOD);
    for (const subject of ['crm', digest, config_digest]) {
      const { code, stdout, stderr } = await wait(subject, '--timeout', '0s');
      const expected = `module 'crm' is live, with digest ${digest}\n`;
      expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: expected, stderr: '' });
    }
  });

  it('returns when the host serves a changed manifest, and a changed descriptor', async () => {
    const changed = describeCrm('/changed');
    const manifestServed = wait((await digestsOf(changed)).digest);
    host.drop('crm.json', changed);
    expect(await manifestServed).to.include({ code: 0, stderr: '' });
    const limited = { ...changed, limits: { timeout_ms: 77 } };
    const configServed = wait((await digestsOf(limited)).config_digest);
    host.drop('crm.json', limited);
    expect(await configServed).to.include({ code: 0, stderr: '' });
  });

  it('returns when a module appears', async () => {
    const served = wait('late');
    host.drop('late.json', describeModule('late', ENDPOINT, []));
    expect(await served).to.include({ code: 0 });
  });

  it('exits with 1 at the timeout and reports the state', async () => {
    const missing = await wait('nope', '--timeout', '300ms');
    expect(missing).to.include({
      code: 1,
      stdout: '',
      stderr: "modgate: module 'nope' is not live after 300 ms: no descriptor has that name\n",
    });
    const { stderr } = await wait(UNKNOWN_DIGEST, '--timeout', '0.2s');
    expect(stderr).to.equal(
      `modgate: ${UNKNOWN_DIGEST} is not live after 200 ms: no live module has that digest\n`,
    );
  });

  it('reports the state of the module at the timeout', async () => {
    host.drop('off.json', { ...describeModule('off', ENDPOINT, []), enabled: false });
    await waitUntil('disabled', () =>
      host.logs().some((line) => line['state'] === 'disabled' && line['module'] === 'off'),
    );
    const { code, stderr } = await wait('off', '--timeout', '300ms');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      "modgate: module 'off' is not live after 300 ms: its state is disabled (off.json): enabled is false in the descriptor\n",
    );
  });

  it('returns when the host serves a file, by its digest', async () => {
    const text = JSON.stringify(describeCrm('/changed'), null, 3);
    const served = wait(digestOf(text));
    host.drop('crm.json', text);
    expect(await served).to.include({ code: 0, stderr: '' });
  });

  it('exits with 1 as soon as the host rejects the file, by its digest', async () => {
    const text = BAD.replace('module: crm', '{');
    const rejected = wait(digestOf(text), '--timeout', '15s');
    host.drop('crm.json', text);
    const { code, stderr } = await rejected;
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^modgate: module 'crm' is stale \(crm\.json\): crm\.json:\d+:\d+ [^\n]+\n$/,
    );
  });

  it('exits with 1 as soon as the host rejects the config_digest', async () => {
    // A valid file with the name of another module.
    const thief = describeCrm('/stolen');
    const { config_digest } = await digestsOf(thief);
    const rejected = wait(config_digest, '--timeout', '15s');
    host.drop('thief.json', thief);
    const { code, stderr } = await rejected;
    expect(code).to.equal(1);
    expect(stderr).to.include("is refused (thief.json): module 'crm' is already configured");
  });

  it('ignores other modules when it waits for a digest', async () => {
    const limited = describeModule('late', ENDPOINT, [], { limits: { timeout_ms: 78 } });
    const { config_digest } = await digestsOf(limited);
    const served = wait(config_digest, '--timeout', '15s');
    host.drop('other.yaml', BAD.replace('crm', 'other'));
    expect(await wait('other')).to.include({ code: 1 });
    host.drop('late.json', limited);
    expect(await served).to.include({ code: 0 });
  });

  it('exits with 1 as soon as the host rejects the module, with reason and hint', async () => {
    host.drop('other.yaml', BAD.replace('crm', 'other'));
    const { code, stderr } = await wait('other', '--timeout', '15s');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^modgate: module 'other' is refused \(other\.yaml\): other\.yaml:2:\d+ [^\n]*unknown key 'confg'[^\n]*\(hint: did you mean 'config'\?\)\n$/,
    );
  });

  it('ignores other modules when it waits for a module', async () => {
    const served = wait('late', '--timeout', '15s');
    host.drop('other.yaml', BAD.replace('crm', 'other'));
    expect(await wait('other')).to.include({ code: 1 });
    host.drop('late.json', describeModule('late', ENDPOINT, []));
    expect(await served).to.include({ code: 0 });
  });

  it('prints the result as JSON', async () => {
    const live = await wait('crm', '--json');
    expect(JSON.parse(live.stdout)).to.deep.include({ outcome: 'live' }).and.have.nested.include({
      'module.name': 'crm',
      'module.state': 'live',
    });
    const late = await wait('nope', '--timeout', '1ms', '--json');
    expect({ code: late.code, stderr: late.stderr }).to.deep.equal({ code: 1, stderr: '' });
    expect(JSON.parse(late.stdout)).to.include({ outcome: 'timeout', module: null });
    host.drop('bad.yaml', BAD.replace('crm', 'bad'));
    const bad = await wait('bad', '--json');
    expect(bad.code).to.equal(1);
    expect(JSON.parse(bad.stdout)).to.have.nested.include({
      outcome: 'rejected',
      'module.state': 'refused',
      'module.hint': "did you mean 'config'?",
    });
  });

  it('exits with 1 immediately when the host rejects the request', async () => {
    const { code, stderr } = await runModgate(['wait', 'crm', '--url', host.url]);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^modgate: the host at \S+ responded with 401: /);
  });
});

describe('modgate wait with invalid arguments', () => {
  const REFUSED: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [[], /^missing required argument 'module\|digest'$/],
    [['CRM'], /^expected a module name, such as crm or acme\/crm, or a digest/],
    [['sha256:abc'], /^expected a module name/],
    [['crm', '--timeout', '10'], /^--timeout must be a duration, such as 10s, 500ms or 2m$/],
    [['crm', '--timeout', '-1s'], /^--timeout must be a duration/],
    [['crm', '--timeout', 'soon'], /^--timeout must be a duration/],
    [['crm', '--url', 'x'], /^--url must be an http or https URL/],
  ];
  for (const [args, line] of REFUSED) {
    it(`rejects '${args.join(' ')}' with one line and exit 2`, async () => {
      const { code, stdout, stderr } = await runModgate(['wait', ...args]);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr.slice('modgate: '.length, -1)).to.match(line);
    });
  }
});

describe('modgate wait with an unreachable host', () => {
  it('waits until the host is reachable', async () => {
    const first = await startFakeHost(() => ({ body: '' }));
    await first.close();
    const waiting = runModgate(['wait', 'crm', '--url', first.url]);
    const port = Number(new URL(first.url).port);
    const fake = await startFakeHost(
      () => ({ body: { modules: [describeEntry('crm')], ignored: [] } }),
      port,
    );
    expect(await waiting).to.include({ code: 0, stderr: '' });
    await fake.close();
  });

  it('waits while a proxy or a draining host answers that it is not there', async () => {
    const problem = { detail: 'the host is draining', errors: [], status: 503 };
    const answers = [
      ...[502, 503, 504].map((status) => ({ status, body: '<h1>no upstream</h1>' })),
      { status: 503, body: problem },
    ];
    const fake = await startFakeHost(() => {
      return answers.shift() ?? { body: { modules: [describeEntry('crm')], ignored: [] } };
    });
    expect(await runModgate(['wait', 'crm', '--url', fake.url])).to.include({
      code: 0,
      stderr: '',
    });
    await fake.close();
  });

  it('reports the answer of a proxy at the timeout, and to other commands', async () => {
    const fake = await startFakeHost(() => ({ status: 503, body: '<h1>no upstream</h1>' }));
    const reason = `the host at ${fake.url} cannot be reached: a proxy responded with 503\n`;
    const waited = await runModgate(['wait', 'crm', '--url', fake.url, '--timeout', '1ms']);
    expect(waited.stderr).to.equal(`modgate: module 'crm' is not live after 1 ms: ${reason}`);
    const asked = await runModgate(['status', '--url', fake.url]);
    expect(asked).to.deep.equal({ code: 1, stdout: '', stderr: `modgate: ${reason}` });
    await fake.close();
  });

  it('reports the unreachable host at the timeout', async () => {
    const args = ['wait', 'crm', '--url', 'http://127.0.0.1:1', '--timeout', '250ms'];
    expect(await runModgate(args)).to.deep.equal({
      code: 1,
      stdout: '',
      stderr:
        "modgate: module 'crm' is not live after 250 ms: the host at http://127.0.0.1:1 cannot be reached: nothing listens there\n",
    });
  });

  it('ends at the timeout while a host accepts connections and never answers', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    for (const args of [[], ['--all-hosts']]) {
      const ended = await runModgate(['wait', 'crm', '--url', url, '--timeout', '1s', ...args]);
      expect(ended).to.include({ code: 1, stdout: '' });
      // An answer may take longer than a short timeout.
      expect(ended.stderr).to.match(
        / after 1000 ms: .* cannot be reached: no response within 2 s$/m,
      );
    }
    silent.close();
    silent.closeAllConnections();
  });

  it('says what is missing at the timeout, for which the last answer has time', async () => {
    const host = { id: 'host_a', version: '1', address: 'http://a.test', digest: 'sha256:a' };
    const at = new Date().toISOString();
    const state = { state: 'ready', started_at: at, heartbeat_at: at, workers: 1, rejected: [] };
    const hosts = [{ ...host, ...state, serves: false }];
    const fake = await startFakeHost(({ pathname }) =>
      pathname === '/fleet'
        ? { body: { fleet: 'f', agreed: true, digest: null, hosts } }
        : { body: { modules: [], ignored: [] } },
    );
    const args = ['wait', 'crm', '--url', fake.url, '--timeout', '2200ms'];
    const ends = await Promise.all([runModgate(args), runModgate([...args, '--all-hosts'])]);
    await fake.close();
    expect(ends.map(({ stderr }) => stderr)).to.deep.equal([
      "modgate: module 'crm' is not live after 2200 ms: no descriptor has that name\n",
      'modgate: crm is not served by all hosts after 2200 ms: not by host_a (http://a.test)\n',
    ]);
  });

  const MINUTE_MS = 60_000;

  it('rechecks an old rejection for a second', async () => {
    const since = new Date(Date.now() - MINUTE_MS).toISOString();
    const stale = describeEntry('crm', { state: 'stale', since, reason: 'bad' });
    const startedAt = Date.now();
    const fake = await startFakeHost(() => {
      const isCorrected = Date.now() - startedAt > 700;
      return { body: { modules: [isCorrected ? describeEntry('crm') : stale], ignored: [] } };
    });
    expect(await runModgate(['wait', 'crm', '--url', fake.url])).to.include({ code: 0 });
    await fake.close();
  });

  it('exits with 1 for an old rejection that persists', async () => {
    const since = new Date(Date.now() - MINUTE_MS).toISOString();
    const stale = describeEntry('crm', { state: 'stale', since, reason: 'bad' });
    const fake = await startFakeHost(() => ({ body: { modules: [stale], ignored: [] } }));
    const ended = await runModgate(['wait', 'crm', '--url', fake.url, '--timeout', '1m']);
    await fake.close();
    expect(ended).to.include({
      code: 1,
      stderr: "modgate: module 'crm' is stale (crm.yaml): bad\n",
    });
  });

  it('compares times with the clock of the host', async () => {
    const HOUR_MS = 3_600_000;
    for (const skewMs of [HOUR_MS, -HOUR_MS]) {
      const now = Date.now() + skewMs;
      const old = new Date(now - MINUTE_MS).toISOString();
      const stale = describeEntry('other', { state: 'stale', since: old, reason: 'bad' });
      const headers = { date: new Date(now).toUTCString() };
      const fake = await startFakeHost(() => ({
        headers,
        body: { modules: [stale], ignored: [] },
      }));
      const args = ['wait', UNKNOWN_DIGEST, '--url', fake.url, '--timeout', '300ms'];
      const { stderr } = await runModgate(args);
      await fake.close();
      expect(stderr).to.include('no live module has that digest');
    }
  });
});
