import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { call } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { buildManifest } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import {
  CODE_PUBLISHER,
  PUBLISHER,
  readReleases,
  sendJson,
  sendRelease,
} from '../support/releases.js';

const SECRET = 'credential-of-the-hosts';
const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const READER = 'dev-service:reader:crm.read';

type Files = Readonly<Record<string, string | object>>;

/**
 * A publisher without the right for code wants the credential of a provider. With the right, each attack succeeds: so
 * it does on a host that does not require the right.
 */
describe('attacks of a publisher on credentials of the hosts', () => {
  let thief: Server;
  let isStolen = false;
  const setup = useHost(() => ({}), {
    args: ['--modules', 'store:', '--release-references', 'env:RELEASE_TOKEN'],
    env: { RELEASE_TOKEN: SECRET },
  });
  before(async () => {
    thief = createServer((request: IncomingMessage, response) => {
      isStolen ||= request.headers.authorization === `Bearer ${SECRET}`;
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
  });
  after(() => thief.close());

  const describeFiles = (): Files => ({
    'crm.json': {
      module: 'crm',
      provider: {
        kind: 'http',
        config: {
          endpoints: { file: './crm/endpoints.json' },
          auth: { bearer: 'env:RELEASE_TOKEN' },
        },
      },
      manifest: './crm/manifest.json',
    },
    'crm/endpoints.json': [setup.provider.url],
    'crm/manifest.json': buildManifest('crm', ROUTES),
  });
  const change = (members: object): Files => {
    const files = describeFiles();
    return { ...files, 'crm.json': { ...(files['crm.json'] as object), ...members } };
  };
  const evil = () => `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
  const publish = async (files: Files, as: string) => {
    const { active: base } = await readReleases(setup.host);
    return sendRelease(setup.host, files, { base }, as);
  };
  const useModule = () => call(setup.host, { target: '/modules/crm/http/items', as: READER });

  const attacks: Readonly<Record<string, () => Files>> = {
    'another content of its file of endpoints': () => ({
      ...describeFiles(),
      'crm/endpoints.json': [evil()],
    }),
    'other endpoints': () =>
      change({
        provider: {
          kind: 'http',
          config: { endpoints: [evil()], auth: { bearer: 'env:RELEASE_TOKEN' } },
        },
      }),
    'a candidate': () => change({ candidate: { endpoints: [evil()], share: 1 } }),
    'a candidate in a file': () => ({
      ...change({ candidate: { endpoints: { file: './crm/thief.json' }, share: 1 } }),
      'crm/thief.json': [evil()],
    }),
  };

  for (const [name, createFiles] of Object.entries(attacks)) {
    it(`holds against ${name}`, async () => {
      expect((await publish(describeFiles(), CODE_PUBLISHER)).status).to.equal(200);
      const { active: good } = await readReleases(setup.host);
      const problem = expectProblem(await publish(createFiles(), PUBLISHER), 403);
      expect(reasonOf(problem, 'scope')).to.equal('modgate.releases.code');
      await waitUntil('the module', async () => (await useModule()).status === 200);
      expect(isStolen).to.equal(false);
      // The attack is a real one.
      expect((await publish(createFiles(), CODE_PUBLISHER)).status).to.equal(200);
      await waitUntil('the theft', async () => {
        await useModule();
        return isStolen;
      });
      // An earlier release is no way back to it, nor a release that leaves the module out.
      const { active: bad } = await readReleases(setup.host);
      expect((await publish(describeFiles(), CODE_PUBLISHER)).status).to.equal(200);
      expectProblem(await sendJson(setup.host, '/rollback', { release: bad }, PUBLISHER), 403);
      expect((await publish({}, PUBLISHER)).status).to.equal(200);
      expectProblem(await publish(createFiles(), PUBLISHER), 403);
      expectProblem(await publish(describeFiles(), PUBLISHER), 403);
      expectProblem(await sendJson(setup.host, '/rollback', { release: good }, PUBLISHER), 403);
      isStolen = false;
    });
  }

  it('does not say what files of the hosts are there before the rights are known', async () => {
    for (const file of ['/etc/hostname', '/etc/does-not-exist']) {
      const plain = change({
        provider: { kind: 'http', config: { endpoints: [setup.provider.url] } },
        candidate: { endpoints: { file } },
      });
      for (const as of [PUBLISHER, CODE_PUBLISHER]) {
        const problem = expectProblem(await publish(plain, as), 403);
        expect(reasonOf(problem, 'crm.json')).to.equal(
          `file:${file} is not among --release-references`,
        );
      }
    }
  });
});
