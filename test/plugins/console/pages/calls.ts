import { expect } from 'chai';
import type { ConsoleSetup } from '../../../support/console/use-console.js';

export function describeCalls(setup: ConsoleSetup): void {
  describe('the page of calls', () => {
    const ask = async (path: string, id: string) => {
      const headers = { authorization: 'Bearer dev-service:counted:crm.read', 'x-request-id': id };
      await fetch(`${setup.host.url}/modules/${path}`, { headers });
    };

    before(async () => {
      await ask('crm/http/contacts', 'counted-1');
      await ask('crm/http/contacts', 'counted-2');
      await ask('cmr/http/others', 'counted-3');
    });

    it('counts calls by their actor and route', async () => {
      const page = await setup.open('/console/calls?actor=service:counted');
      await page.getByLabel('Count by').selectOption('actor,route');
      const row = page.getByRole('row').filter({ hasText: 'GET /contacts' });
      await row.waitFor();
      expect(await row.innerText()).to.match(/service:counted\s+GET \/contacts\s+2\s/);
      expect(new URL(page.url()).searchParams.get('by')).to.equal('actor,route');
    });

    for (const value of ['40', '4x', '600', 'ok']) {
      it(`says that ${value} is not a status`, async () => {
        const page = await setup.open(`/console/calls?actor=service:counted&status=${value}`);
        await page.getByRole('alert').getByText('status', { exact: true }).waitFor();
        expect(await page.getByRole('button', { name: 'GET /contacts' }).count()).to.equal(0);
        await page.getByRole('textbox', { name: 'Status' }).fill('2xx');
        await page.getByRole('textbox', { name: 'Status' }).press('Enter');
        await page.getByRole('button', { name: 'GET /contacts' }).first().waitFor();
      });
    }

    it('shows a filter by a module that is gone, also on the page of the audit', async () => {
      for (const path of ['/console/calls?module=gone', '/console/audit?module=gone']) {
        const page = await setup.open(path);
        await page.getByText(/^No (?:call|row) matches$/).waitFor();
        expect(await page.getByRole('combobox', { name: /^Module/ }).inputValue()).to.equal('gone');
        await page.getByRole('combobox', { name: /^Module/ }).selectOption('all');
        await page.getByText(/^No (?:call|row) matches$/).waitFor({ state: 'detached' });
      }
      const page = await setup.open('/console/modules?state=faulted');
      await page.getByText('No module matches').waitFor();
      expect(await page.getByRole('combobox', { name: /^State/ }).inputValue()).to.equal('faulted');
    });

    it('says that the call of a link is not among those shown, and finds it', async () => {
      const page = await setup.open('/console/calls?status=4xx&call=counted-1');
      await page.getByText('counted-1').waitFor();
      await page.getByRole('textbox', { name: 'Status' }).fill('');
      await page.getByRole('textbox', { name: 'Status' }).press('Enter');
      await page.getByRole('dialog').waitFor();
      const other = await setup.open('/console/calls?status=4xx&call=counted-3');
      await other.getByRole('dialog').waitFor();
      const absent = await setup.open('/console/calls?call=absent-1');
      await absent.getByRole('button', { name: 'Find it' }).click();
      await absent.getByText('No call matches').waitFor();
    });

    it('reads older calls once by two clicks, and shows none of other filters', async () => {
      for (let count = 0; count < 3; count += 1) {
        await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            ask('crm/http/contacts', `old-${count}-${index}`),
          ),
        );
      }
      const page = await setup.open('/console/calls?actor=service:counted');
      const table = page.getByRole('table');
      await page.getByRole('button', { name: 'Show older calls' }).dblclick();
      await page.getByRole('button', { name: 'Show older calls' }).waitFor({ state: 'detached' });
      expect(await table.getAttribute('aria-rowcount')).to.equal('154');
      await page.reload();
      let send = () => {};
      const sent = new Promise<void>((resolve) => {
        send = resolve;
      });
      const finished = new Promise<void>((resolve) => {
        void page.route(/calls\?.*cursor=/, async (route) => {
          await sent;
          await route.continue().catch(() => {});
          resolve();
        });
      });
      await page.getByRole('button', { name: 'Show older calls' }).click();
      await page.getByRole('textbox', { name: 'Request ID' }).fill('counted-3');
      await page.getByRole('textbox', { name: 'Request ID' }).press('Enter');
      await page.getByRole('button', { name: 'GET /modules/cmr/http/others' }).waitFor();
      send();
      await finished;
      await page.waitForLoadState('networkidle').catch(() => {});
      expect(await table.getAttribute('aria-rowcount')).to.equal('2');
    });

    it('selects by route, class of status and time', async () => {
      const page = await setup.open('/console/calls?actor=service:counted&status=4xx');
      await page.getByRole('button', { name: 'GET /modules/cmr/http/others' }).waitFor();
      expect(await page.getByRole('button', { name: 'GET /contacts' }).count()).to.equal(0);
      await page.getByRole('textbox', { name: 'Status' }).fill('');
      await page.getByRole('textbox', { name: 'Status' }).press('Enter');
      await page.getByRole('textbox', { name: 'Route' }).fill('GET /contacts');
      await page.getByRole('textbox', { name: 'Route' }).press('Enter');
      await page.getByRole('button', { name: 'GET /contacts' }).nth(1).waitFor();
      await page.getByLabel('Until').fill('2026-01-31T12:00');
      await page.getByText('No call matches').waitFor();
      const until = new URL(page.url()).searchParams.get('until');
      expect(until).to.match(/^2026-01-3[01]T\d\d:\d\d:00\.000Z$/);
      expect(await page.getByLabel('Until').inputValue()).to.equal('2026-01-31T12:00');
    });
  });
}
