import { expect } from 'chai';
import { type ConsoleSetup, OPERATOR, untilLoaded } from '../../../support/console/use-console.js';
import { parseJson } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { readReleases, sendRelease } from '../../../support/releases.js';

const TOKEN = `${OPERATOR},modgate.releases`;

const CANARY = {
  release: `sha256:${'abcdef'.repeat(11).slice(0, 64)}`,
  since: '2098-06-01T12:00:00.000Z',
  until: '2099-06-01T12:00:00.000Z',
  hosts: ['host_1'],
  modules: { shop: { calls: 7, failed: 2 } },
};

export function describeReleases(setup: ConsoleSetup): void {
  describe('the releases', () => {
    const publish = async (path: string, note: string): Promise<string> => {
      const routes = [{ method: 'GET', path, capability: 'crm.read' }];
      const files = { 'shop.json': describeModule('shop', 'http://127.0.0.1:1', routes) };
      const { active: base } = await readReleases(setup.host);
      const { release } = parseJson(await sendRelease(setup.host, files, { base, note }));
      return String(release).slice('sha256:'.length, 'sha256:'.length + 12);
    };

    it('are listed, with what one changes against the one before', async () => {
      const first = await publish('/before', 'first');
      const second = await publish('/after', 'second');
      const page = await setup.open('/console/releases', { token: TOKEN });
      await page.getByRole('table').waitFor();
      await untilLoaded(page);
      const [newest, older] = [page.getByRole('row').nth(1), page.getByRole('row').nth(2)];
      expect(await newest.innerText())
        .to.include(second)
        .and.include('active')
        .and.include('second');
      expect(await older.innerText())
        .to.include(first)
        .and.not.include('active');
      const difference = page.locator('pre');
      await difference.getByText('+ GET /after (crm.read)').waitFor();
      expect(await difference.innerText()).to.include('~ shop changed');
      expect(await difference.innerText()).to.include('- GET /before (crm.read)');
      await page.getByLabel('Against').selectOption({ label: `${second} second` });
      await difference.getByText('= 1 module unchanged').waitFor();
      expect(await difference.innerText()).to.not.include('GET /after');
    });

    it('show the canary, its calls and the time of the decision', async () => {
      const page = await setup.open('/console/releases', {
        token: TOKEN,
        prepare: async (target) => {
          await target.route('**/console/api/releases', async (route) => {
            const response = await route.fetch();
            const status = (await response.json()) as object;
            await route.fulfill({ response, json: { ...status, canary: CANARY } });
          });
        },
      });
      await page.getByText('abcdefabcdef is tried by host_1, until').waitFor();
      expect(await page.locator('#main').innerText())
        .to.include('shop: 7 calls, 2 failed')
        .and.match(/until [^.]*2099/);
    });

    it('are not in the navigation of who may not read them', async () => {
      const page = await setup.open('/console', { token: 'dev-user:ann:modgate.modules.read' });
      await untilLoaded(page);
      expect(await page.getByRole('link', { name: 'Releases' }).count()).to.equal(0);
    });
  });
}
