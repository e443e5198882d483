import { expect } from 'chai';
import { describeEntry, startFakeHost } from '../support/cli/fake-host.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { call } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { startHost } from '../support/start-host.js';
import { use } from '../support/use.js';

const ENDPOINT = 'http://127.0.0.1:4100';
const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const TOKEN = 'dev-service:ops:modgate.modules.read';

describe('modgate status', () => {
  const host = use(() =>
    startHost({
      files: {
        'crm.json': describeModule('crm', ENDPOINT, ROUTES),
        'bad.yaml': 'module: bad\nprovider: { kind: http, confg: {} }\n',
        'notes.txt': '',
      },
    }),
  );

  it('prints a table of modules, with reasons below each', async () => {
    const { code, stdout, stderr } = await runModgate([
      'status',
      '--url',
      host.url,
      '--token',
      TOKEN,
    ]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).to.match(/^NAME +STATE +SINCE +DIGEST +CALLS +FAILED +IN FLIGHT$/);
    expect(lines[1]).to.match(/^bad +refused +\d+s +- +0 +0 +0$/);
    expect(lines[2]).to.match(/^ {2}bad\.yaml: .*unknown key 'confg'/);
    expect(lines[3]).to.match(/^ {2}hint: did you mean 'config'\?$/);
    expect(lines[4]).to.match(/^crm +live +\d+s +[0-9a-f]{12} +0 +0 +0$/);
    expect(lines).to.include('2 modules: 1 refused, 1 live');
    expect(lines).to.include('ignored: notes.txt (does not end in .yaml, .yml or .json)');
    for (const line of lines) expect(line).to.equal(line.trimEnd());
  });

  it('aligns its columns', async () => {
    const { stdout } = await runModgate(['status', '--url', host.url, '--token', TOKEN]);
    const rows = stdout.split('\n').filter((line) => /^(?:NAME|bad|crm) /.test(line));
    expect(new Set(rows.map((row) => row.length)).size).to.equal(1);
    expect(new Set(rows.map((row) => row.search(/STATE|refused|live/))).size).to.equal(1);
  });

  it('prints only modules with --modules-only', async () => {
    const args = ['status', '--url', host.url, '--token', TOKEN, '--modules-only'];
    const { stdout } = await runModgate(args);
    expect(stdout).to.include('crm').and.not.include('ignored');
  });

  it('counts modules with an endpoint down, and lists only unhealthy ones', async () => {
    const down = await startHost({
      files: {
        'down.json': describeModule('down', 'http://127.0.0.1:9', ROUTES, {
          breaker: { failures: 1, open_ms: 60_000 },
        }),
        'fine.json': describeModule('fine', ENDPOINT, ROUTES),
        'off.json': describeModule('off', ENDPOINT, ROUTES, { enabled: false }),
      },
    });
    const args = ['status', '--url', down.url, '--token', TOKEN];
    const before = await runModgate([...args, '--unhealthy']);
    expect(before.code).to.equal(0);
    expect(before.stdout)
      .to.match(/^NAME/)
      .and.not.match(/^(?:down|fine|off) /m);
    await call(down, { target: '/modules/down/http/items' });
    const { code, stdout } = await runModgate([...args, '--unhealthy']);
    expect(code).to.equal(1);
    expect(stdout)
      .to.match(/^down +live/m)
      .and.not.match(/^(?:fine|off) /m);
    const all = await runModgate(args);
    expect(all.code).to.equal(0);
    expect(all.stdout).to.include('2 live, 1 disabled, 1 with an endpoint down');
    await down.stop();
  });

  it('prints the response of the host byte for byte with --json', async () => {
    const response = await fetch(`${host.url}/modules`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const text = await response.text();
    const env = { MODGATE_URL: `${host.url}/`, MODGATE_TOKEN: TOKEN };
    const expected = { code: 0, stdout: `${text}\n`, stderr: '' };
    expect(await runModgate(['status', '--json'], env)).to.deep.equal(expected);
  });

  it('exits with 1 and one line when the host rejects the request', async () => {
    const errorOf = async (...args: string[]) => {
      const { code, stdout, stderr } = await runModgate(['status', '--url', host.url, ...args]);
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      return stderr;
    };
    expect(await errorOf()).to.equal(
      `modgate: the host at ${host.url} responded with 401: authentication is required (authorization: missing); send a valid bearer token in the authorization header\n`,
    );
    expect(await errorOf('--token', 'dev-service:x')).to.equal(
      `modgate: the host at ${host.url} responded with 403: a scope of the host is required (scope: modgate.modules.read); ask for the scope modgate.modules.read\n`,
    );
  });

  it('exits with 1 and one line without a host', async () => {
    // Port 1 (tcpmux) is unused.
    const { code, stderr } = await runModgate(['status', '--url', 'http://127.0.0.1:1']);
    const line = 'the host at http://127.0.0.1:1 cannot be reached: nothing listens there';
    expect({ code, stderr }).to.deep.equal({ code: 1, stderr: `modgate: ${line}\n` });
    const name = await runModgate(['status', '--url', 'http://no-such-host.invalid']);
    expect(name.code).to.equal(1);
    expect(name.stderr).to.match(
      /^modgate: the host at http:\/\/no-such-host\.invalid cannot be reached: /,
    );
  });

  const REFUSED: readonly (readonly string[])[] = [
    ['--url', 'hunter2'],
    ['--url', 'ftp://h'],
    ['--url', 'http://me:hunter2@h'],
    ['--url', 'http://h/?q=hunter2'],
    ['--url', ''],
    ['--token', 'hunter2\n'],
    ['--token', ''],
    ['--tokn=hunter2'],
    ['here'],
  ];
  for (const args of REFUSED) {
    it(`rejects ${JSON.stringify(args.join(' '))} with 2 and does not print secrets`, async () => {
      const { code, stdout, stderr } = await runModgate(['status', ...args]);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^modgate: [^\n]+\n$/)
        .and.not.include('hunter2');
    });
  }

  it('names the invalid variable', async () => {
    const { stderr } = await runModgate(['status'], { MODGATE_URL: 'nonsense' });
    expect(stderr).to.match(/^modgate: MODGATE_URL must be an http or https URL /);
    const token = await runModgate(['status'], { MODGATE_TOKEN: 'a\tb' });
    expect(token.stderr).to.match(/^modgate: MODGATE_TOKEN must be a token/);
  });

  describe('with an untrusted host', () => {
    it('prints failing endpoints and ages, and escapes control characters', async () => {
      const since = (ms: number) => new Date(Date.now() - ms).toISOString();
      const modules = [
        describeEntry('a', {
          since: since(3 * 86_400_000),
          endpoints: [
            {
              endpoint: 'http://a:1',
              state: 'up',
              until: null,
              routes: [
                { route: 'GET /a', state: 'open', until: '2026-01-01T00:00:00.000Z' },
                { route: 'GET /b', state: 'half_open', until: null },
              ],
            },
            { endpoint: 'http://b:1', state: 'open', until: '2026-01-01T00:00:00.000Z' },
            { endpoint: 'http://c:1', state: 'down', until: null },
          ],
        }),
        describeEntry('b', { since: since(7_300_000), reason: '\u001b[2J\u009b\u202egone\n!' }),
        describeEntry('c', { since: since(125_000), name: null, state: 'stale', digest: null }),
      ];
      const fake = await startFakeHost(() => ({ body: { modules, ignored: [] } }));
      const { stdout } = await runModgate(['status', '--url', fake.url]);
      await fake.close();
      const lines = stdout.split('\n');
      expect(lines[1]).to.match(/^a +live +3d /);
      expect(lines.splice(2, 2)).to.deep.equal([
        '  route GET /a at http://a:1 is open until 2026-01-01T00:00:00.000Z',
        '  route GET /b at http://a:1 is half_open',
      ]);
      expect(lines[2]).to.equal('  endpoint http://b:1 is open until 2026-01-01T00:00:00.000Z');
      expect(lines[3]).to.equal('  endpoint http://c:1 is down');
      expect(lines[4]).to.match(/^b +live +2h /);
      expect(lines[5]).to.equal('  b.yaml: \\u001b[2J\\u009b\\u202egone\\u000a!');
      expect(lines[6]).to.match(/^- +stale +2m +- /);
    });

    it('computes ages with the clock of the host', async () => {
      const ahead = Date.now() + 3_600_000;
      const modules = [describeEntry('a', { since: new Date(ahead - 180_000).toISOString() })];
      const headers = { date: new Date(ahead).toUTCString() };
      const fake = await startFakeHost(() => ({ headers, body: { modules, ignored: [] } }));
      const { stdout } = await runModgate(['status', '--url', fake.url]);
      await fake.close();
      expect(stdout).to.match(/\na +live +[23]m /);
    });

    it('rejects an unexpected response', async () => {
      for (const body of ['<html>', 'null', '{}', '{"modules":[{}],"ignored":[]}']) {
        const fake = await startFakeHost(() => ({ body }));
        const { code, stdout, stderr } = await runModgate(['status', '--url', fake.url, '--json']);
        await fake.close();
        const line = `${fake.url} is not a modgate host: unexpected response`;
        expect({ code, stdout, stderr }).to.deep.equal({
          code: 1,
          stdout: '',
          stderr: `modgate: ${line}\n`,
        });
      }
    });

    it('does not follow redirects, which would leak the token', async () => {
      const other = await startFakeHost(() => ({ body: { modules: [], ignored: [] } }));
      const fake = await startFakeHost(() => ({
        status: 302,
        headers: { location: other.url },
        body: '',
      }));
      const { code, stderr } = await runModgate(['status', '--url', fake.url, '--token', TOKEN]);
      await fake.close();
      await other.close();
      expect({ code, requests: other.requests }).to.deep.equal({ code: 1, requests: [] });
      expect(stderr).to.include('responded with a redirect, which is never followed');
    });
  });
});
