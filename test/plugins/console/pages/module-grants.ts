import { expect } from 'chai';
import { describeCrm } from '../../../support/console/shop-modules.js';
import type { ConsoleSetup } from '../../../support/console/use-console.js';

export function describeModuleGrants(setup: ConsoleSetup): void {
  describe('grants', () => {
    it('show which roles may call a route, and what a role opens', async () => {
      const page = await setup.open('/console/modules/crm?tab=Grants');
      const routes = page.getByRole('table', { name: 'Roles by route' });
      await routes
        .getByRole('row', { name: /GET \/contacts.*seller, reader$/ })
        .first()
        .waitFor();
      const roles = page.getByRole('table', { name: 'What roles open' });
      await roles.getByRole('row', { name: /reader.*crm\.read: GET .*entity contacts/ }).waitFor();
      await roles.getByRole('row', { name: /seller.*crm\.write: .*crm\.read: .*Sells/ }).waitFor();
      expect(await roles.getByText('accountant').count()).to.equal(0);
    });

    it('are shown as a difference, with the lines that grant the rest', async () => {
      const page = await setup.open('/console/modules/crm?tab=Grants');
      await page
        .getByRole('row', { name: /crm\.read.*granted/ })
        .first()
        .waitFor();
      await page.getByRole('row', { name: /crm\.deals.*not granted/ }).waitFor();
      await page
        .getByRole('row', { name: /^crm\.read.*entity contacts, configuration \(read\)/ })
        .waitFor();
      await page
        .getByRole('row', { name: /^crm\.config.*configuration \(read\), configuration \(write\)/ })
        .waitFor();
      const lines = await page.getByText(/^console:\n/).innerText();
      expect(lines).to.equal(
        'console:\n  ui: [builtin]\n  grants: [crm.read, crm.write, crm.config, crm.deals]',
      );
      const grants = /grants: \[(.*)\]/.exec(lines)?.[1]?.split(', ');
      const granted = { console: { ui: ['builtin'], grants } };
      setup.drop('crm.json', describeCrm(setup.provider.url, granted));
      await page.getByText('grants this console all that the manifest declares').waitFor();
      setup.drop('crm.json', describeCrm(setup.provider.url));
      await page.getByRole('row', { name: /crm\.deals.*not granted/ }).waitFor();
    });
  });
}
