import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { CODE_PUBLISHER, readReleases, useWorkspace } from '../../support/releases.js';
import { startHost, startHostProcess } from '../../support/start-host.js';
import { use } from '../../support/use.js';

const routes = (path: string) => [{ method: 'GET', path, capability: 'crm.read' }];

for (const workers of ['1', '2']) {
  describe(`a release that ${workers} workers serve`, () => {
    const workspace = useWorkspace(`${CODE_PUBLISHER},modgate.modules.read`);

    const start = workers === '1' ? startHost : startHostProcess;
    const host = use(() => start({ args: ['--modules', 'store:', '--workers', workers] }));

    /** Opens for as long as DNS does not answer: 3 s. */
    const describeSlow = (path: string) => ({
      ...describeModule('slow', 'http://127.0.0.1:1', routes(path)),
      provider: {
        kind: 'http',
        config: {
          endpoints: [{ dns: 'crm.internal', port: 80 }],
          resolver: { servers: ['192.0.2.1'] },
        },
      },
    });
    const publish = async (path: string, ...args: string[]) => {
      const { active } = await readReleases(host);
      if (active !== null) {
        await workspace.run(host, 'releases', 'pull', workspace.folder, '--force');
      }
      workspace.write('slow.json', describeSlow(path));
      return workspace.publish(host, ...args);
    };

    it('is reported after its modules serve, for which publish --wait waits', async () => {
      const { code, stderr, stdout } = await publish('/first', '--wait');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(
        /^[0-9a-f]{12} is active\n[0-9a-f]{12} is served by every ready host\n$/,
      );
      // No endpoint is known, so that the route is 502: the path is one of the release.
      const { status } = await call(host, { target: '/modules/slow/http/first' });
      expect(status).to.equal(502);
      const listMessages = () => host.logs().map(({ msg }) => msg);
      // The output of a process arrives after the response.
      await waitUntil('the line', () => listMessages().includes('release served'));
      const lines = listMessages();
      const served = lines.indexOf('release served');
      expect(lines.indexOf('module changed')).to.be.within(0, served);
      const { active, hosts } = await readReleases(host);
      expect(hosts).to.have.length(1);
      expect(hosts[0]).to.include({ release: active, problem: null });
    });

    it('is not waited for longer than the limit, which names the host', async () => {
      const { code, stderr } = await publish('/second', '--wait', '--timeout', '100ms');
      expect(code, stderr).to.equal(1);
      expect(stderr).to.match(/is not served by all hosts after 100 ms: not by \S/);
      expect((await publish('/second', '--wait')).code).to.equal(0);
    });

    it('is the result of publish --json, with whether it is served', async () => {
      const late = await publish('/third', '--json', '--wait', '--timeout', '100ms');
      const { detail, ...result } = JSON.parse(late.stdout);
      const release = workspace.base();
      expect(result).to.deep.equal({ release, outcome: 'active', served: false });
      expect(detail).to.match(/is not served by all hosts after 100 ms: not by \S/);
      expect(late.code).to.equal(1);
      const { code, stdout } = await publish('/third', '--json', '--wait');
      expect(JSON.parse(stdout)).to.include({ release, outcome: 'unchanged', served: true });
      expect(code).to.equal(0);
    });
  });
}
