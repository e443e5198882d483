import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';
import { describeModule, toRoutes } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { expectValidDocument } from '../support/openapi/validate-document.js';

describe('modgate openapi', () => {
  const setup = useHost(({ url }) => ({
    'crm.json': describeModule('acme/crm', url, toRoutes(['GET /x/{id}'], 'crm.use')),
    'shop.json': describeModule('shop', url, toRoutes(['GET /x', 'POST /x'], 'shop.use')),
    'team.json': describeModule('team', url, toRoutes(['GET /x'], 'team.use'), {
      forward_headers: ['x-team'],
    }),
  }));
  const token = ['--token', 'dev-service:me'];

  it('prints the same document from a host and from its files', async () => {
    const { directory, url } = setup.host;
    const ofHost = await runModgate(['openapi', '--url', url, ...token]);
    const ofFiles = await runModgate(['openapi', '--modules', `${directory}/modules.d`]);
    expect([ofHost.code, ofFiles.code], ofHost.stderr + ofFiles.stderr).to.deep.equal([0, 0]);
    expect(ofFiles.stdout).to.equal(ofHost.stdout);
    await expectValidDocument(ofFiles.stdout);
  });

  it('prints JSON with and without --json', async () => {
    const args = ['openapi', '--modules', `${setup.host.directory}/modules.d`];
    const { code, stdout, stderr } = await runModgate([...args, '--json']);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.equal((await runModgate(args)).stdout);
  });

  it('describes only the named modules', async () => {
    const { directory, url } = setup.host;
    const ofHost = await runModgate(['openapi', 'acme/crm', '--url', url, ...token]);
    const ofFiles = await runModgate([
      'openapi',
      'acme/crm',
      '--modules',
      `${directory}/modules.d`,
    ]);
    expect(ofFiles.stdout).to.equal(ofHost.stdout);
    const { paths } = JSON.parse(ofHost.stdout) as { paths: object };
    expect(Object.keys(paths)).to.deep.equal(['/modules/acme%2Fcrm/http/x/{id}']);
  });

  it('leaves out a module of files that a host with the same settings rejects', async () => {
    const args = ['openapi', '--modules', `${setup.host.directory}/modules.d`];
    const listPaths = async (environment: Record<string, string>) => {
      const { stdout } = await runModgate(args, environment);
      return Object.keys((JSON.parse(stdout) as { paths: object }).paths);
    };
    expect(await listPaths({})).to.include('/modules/team/http/x');
    expect(await listPaths({ MODGATE_TOKEN_HEADER: 'x-team' })).not.to.include(
      '/modules/team/http/x',
    );
  });

  it('exits with 1 for a module that is not there', async () => {
    const { directory, url } = setup.host;
    for (const source of [
      ['--url', url, ...token],
      ['--modules', `${directory}/modules.d`],
    ]) {
      const { code, stdout, stderr } = await runModgate(['openapi', 'missing', ...source]);
      expect([code, stdout], stderr).to.deep.equal([1, '']);
      expect(stderr).to.contain('module');
    }
  });
});
