import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { describeModule } from '../support/http/modules.js';
import { useWorkspace } from '../support/releases.js';
import { startHost } from '../support/start-host.js';
import { useEach } from '../support/use.js';

const ROUTES = [{ method: 'GET', path: '/items' }];

describe('serve --check of a host that follows releases', () => {
  const workspace = useWorkspace();

  const place = useEach(createWorkplace);
  const host = useEach(() => {
    const args = ['--modules', 'store:', '--release-references', 'env:CRM_TOKEN'];
    return startHost({ args, env: { CRM_TOKEN: 'value' } });
  });

  const checkWith = async (env: Readonly<Record<string, string>>, ...args: string[]) => {
    const state = ['--state', `${host.directory}/state`, '--env', 'development'];
    const command = ['serve', '--check', '--modules', 'store:', ...state, ...args];
    const { code, stdout } = await place.run(command, { CRM_TOKEN: 'value', ...env });
    return { code, stdout };
  };
  const check = (...args: string[]) => checkWith({}, ...args);
  const publish = async (config: object = {}) => {
    const provider = {
      kind: 'http',
      config: { endpoints: ['http://127.0.0.1:9'], ...config },
    };
    const descriptor = describeModule('crm', 'http://127.0.0.1:9', ROUTES, { provider });
    workspace.write('crm.json', descriptor);
    const { code, stderr } = await workspace.publish(host);
    expect(code, stderr).to.equal(0);
  };

  it('checks the active release with --connect', async () => {
    await publish({ auth: { bearer: 'env:CRM_TOKEN' } });
    const allowed = await check('--connect', '--release-references', 'env:CRM_TOKEN');
    expect(allowed.stdout).to.include('1 file, 0 errors');
    expect(allowed.code).to.equal(0);
    const rejected = await check('--connect');
    expect(rejected.stdout).to.match(/^store:crm\.json:.*CRM_TOKEN/m);
    expect(rejected.code).to.equal(1);
  });

  it('names a temporary folder that cannot be used', async () => {
    await publish();
    const { code, stdout } = await checkWith({ TMPDIR: '/nonexistent' }, '--connect');
    expect(stdout).to.include('temporary folder /nonexistent cannot be used (ENOENT): set TMPDIR');
    expect(code).to.equal(1);
  });

  it('says what it has not checked', async () => {
    const offline = await check();
    expect(offline.stdout).to.include('note: the release of the store is checked with --connect');
    const empty = await check('--connect');
    expect(empty.stdout).to.include('note: the store has no release yet');
    expect([offline.code, empty.code]).to.deep.equal([0, 0]);
    const store = ['--store', 'postgres://user:canary@127.0.0.1:9/none'];
    const down = await check('--connect', ...store);
    expect(down.stdout)
      .to.include('note: the release cannot be checked: the database server does not respond')
      .and.include('the store at 127.0.0.1:9 cannot be used: the database server does not respond')
      .and.not.include('canary');
  });

  it('names the one cause of an issuer that cannot be used, with its address', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/long') response.end(JSON.stringify('x'.repeat(300_000)));
      else request.socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const issuer = (name: string) => ({
      ...{ issuer: `https://${name}.example`, audience: 'a', algorithms: ['RS256'] },
      ...{ jwks: { url: `${origin}/${name}` }, actor: { kind: 'service' } },
    });
    place.write('issuers.json', { issuers: [issuer('long'), issuer('reset')] });
    try {
      const { stdout } = await check('--connect', '--issuers', 'issuers.json');
      expect(stdout)
        .to.include(`https://long.example sent more than 256 KiB from ${origin}`)
        .and.include(`https://reset.example cannot be reached at ${origin} (ECONNRESET)`);
    } finally {
      server.close();
    }
  });
});
