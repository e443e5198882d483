import { expect } from 'chai';
import { startNaiveGateway } from '../attacks/weak/naive-gateway.js';
import { authority } from '../support/certificates.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { startHost } from '../support/start-host.js';
import { startTlsHost } from '../support/tls/tls-host.js';
import { use } from '../support/use.js';

interface Report {
  readonly cases: readonly { id: string; class: string; verdict: string; reason: string | null }[];
}

describe('modgate selftest', () => {
  const local = 'http://127.0.0.1:1';
  const host = use(startHost);
  const naive = use(() => startNaiveGateway(new Map([['shop', 'http://127.0.0.1:9']])));

  it('runs the cases without credentials, by class, and names those of the project', async () => {
    const { code, stdout } = await runModgate(['selftest', host.url, '--class', 'smuggling,guard']);
    expect(stdout).to.match(/^CLASS +CASES +HELD +FAILED +SKIPPED +ATTACKS\n/);
    expect(stdout).to.match(/\nsmuggling +92 +8 +0 +84 +request smuggling\n/);
    expect(stdout).to.include('\n134 attacks: 25 held, 0 failed, 109 skipped\n');
    expect(stdout).to.match(
      /\n\d+ more attacks are tests of modgate, against a host of their own\n$/,
    );
    expect(code).to.equal(0);
  });

  it('lists every case on demand', async () => {
    const args = ['--route', '/modules/crm/http/a', '--token', 'dev-system:root'];
    const { stdout } = await runModgate([
      'selftest',
      host.url,
      ...args,
      '--class',
      'path',
      '--verbose',
    ]);
    const advisory = ' (fastify CVE-2021-21321)';
    expect(stdout).to.include(`\nheld    path-dot-dot: two dots in a path${advisory}\n`);
  });

  it('names the reason of each skipped case', async () => {
    const { code, stdout } = await runModgate(['selftest', host.url, '--class', 'guard', '--json']);
    const { cases } = JSON.parse(stdout) as Report;
    expect(cases.find(({ id }) => id === 'guard-credential-cut')).to.include({
      verdict: 'skipped',
      reason: 'needs --token and --route',
    });
    expect(code).to.equal(0);
  });

  it('attacks a host behind TLS whose authority it is given', async () => {
    const secure = await startTlsHost({}, () => []);
    const ca = secure.write('authority.pem', authority);
    const args = ['selftest', secure.url, '--class', 'guard', '--json'];
    const { code, stdout } = await runModgate([...args, '--ca', ca]);
    const { cases } = JSON.parse(stdout) as Report;
    expect(cases.filter(({ verdict }) => verdict === 'held').length).to.be.above(10);
    expect(code).to.equal(0);
    const other = await runModgate(args);
    await secure.stopAll();
    expect(other.code).to.equal(1);
    expect(other.stderr).to.match(
      /^modgate: .* cannot be reached: its certificate is from an unknown authority \(set one /,
    );
  });

  it('attacks nothing where no host listens', async () => {
    expect(await runModgate(['selftest', local])).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: `modgate: the host at ${local} cannot be reached: nothing listens there\n`,
    });
  });

  it('exits with 1 and names the failed cases', async () => {
    const url = `http://127.0.0.1:${naive.port}`;
    const args = ['selftest', url, '--class', 'path', '--route', '/modules/shop/http/items'];
    const { code, stdout } = await runModgate([...args, '--token', 'secret-of-mine']);
    expect(stdout).to.match(
      /\nfailed {2}path-dot-dot: .+responded with 200 instead of 404 or 400\n/,
    );
    expect(stdout).not.to.include('secret-of-mine');
    expect(code).to.equal(1);
  });

  const rejected: readonly (readonly [title: string, args: readonly string[], message: RegExp])[] =
    [
      ['no URL', [], /missing required argument 'url'/],
      ['a host that is not on loopback', ['http://192.0.2.1:3000'], /must be on loopback/],
      ['an invalid URL', ['localhost'], /the URL must be an http or https URL/],
      ['a URL with a path', [`${local}/prefix`], /the URL must be that of a host, without a path/],
      ['an unknown class', [local, '--class', 'mcp'], /--class must name classes of path, guard/],
      ['the name of a member', [local, '--class', 'constructor'], /--class must name classes/],
      ['an invalid route', [local, '--route', '/a'], /--route must look like/],
    ];
  for (const [title, args, message] of rejected) {
    it(`rejects ${title}`, async () => {
      const { code, stderr } = await runModgate(['selftest', ...args]);
      expect(stderr).to.match(message);
      expect(code).to.equal(2);
    });
  }
});
