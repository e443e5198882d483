import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { CONTACTS, describeCrm, FIRST_CONTACT } from '../../../support/console/shop-modules.js';
import type { ConsoleSetup } from '../../../support/console/use-console.js';
import { describeModule } from '../../../support/http/modules.js';

export function describeModulePages(setup: ConsoleSetup): void {
  const openTab = (tab: string, more = '') => setup.open(`/console/modules/crm?tab=${tab}${more}`);
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click();
  const lastRequest = (path: string) =>
    setup.provider.requests.findLast(({ target }) => target.startsWith(path));
  const bodyOf = (path: string) => JSON.parse(lastRequest(path)?.body.toString() ?? 'null');

  describe('data', () => {
    it('are shown page by page, with exact integers', async () => {
      const page = await openTab('Data');
      const rows = page.getByRole('row');
      await page.getByRole('cell', { name: `${FIRST_CONTACT}`, exact: true }).waitFor();
      expect(await rows.count()).to.equal(1 + 50);
      for (const shown of [100, CONTACTS]) {
        await press(page, 'Show more');
        await page.getByRole('cell', { name: `Contact ${shown - 1}`, exact: true }).waitFor();
        expect(await rows.count()).to.equal(1 + shown);
      }
      await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
      expect(lastRequest('/admin/contacts')?.target).to.contain('cursor=100');
    });

    it('offer what other modules contribute to a row', async () => {
      const page = await openTab('Data');
      await page
        .getByRole('row', { name: /Contact 7\b/ })
        .getByRole('button')
        .click();
      await press(page, 'Invoice this contact');
      expect(await page.getByLabel('Customer').inputValue()).to.equal('Contact 7');
      await press(page, 'Send an invoice');
      await page.getByText('"done": "invoice"').waitFor();
      expect(bodyOf('/admin/invoice')).to.deep.equal({ customer: 'Contact 7' });
    });

    it('that are not granted say which line is missing', async () => {
      const page = await openTab('Data', '&entity=deals');
      await page.getByText('the descriptor does not grant crm.deals').waitFor();
    });
  });

  describe('an action', () => {
    it('of low danger needs one click', async () => {
      const page = await openTab('Actions', '&action=refresh');
      await press(page, 'Refresh the index');
      await page.getByText('"done": "refresh"').waitFor();
    });

    it('of medium danger shows its question, and its input is checked', async () => {
      const page = await openTab('Actions', '&action=merge');
      await page.getByText('Merge both contacts into one?').waitFor();
      await page.getByLabel('From').fill('1.5');
      await press(page, 'Merge two contacts');
      await page.getByRole('alert').getByText('expected a whole number').waitFor();
      await page.getByLabel('From').fill(`${FIRST_CONTACT}`);
      await press(page, 'Merge two contacts');
      await page.getByText('"done": "merge"').waitFor();
      expect(lastRequest('/admin/merge')?.body.toString()).to.contain(`"from":${FIRST_CONTACT}`);
    });

    it('of high danger needs its phrase, exactly and each time', async () => {
      const page = await openTab('Actions', '&action=wipe');
      const run = page.getByRole('button', { name: 'Delete all contacts' });
      await page.getByText('Delete every contact?').waitFor();
      for (const phrase of ['', 'DELETE', 'delete all', 'DELETE ALL ']) {
        await page.getByLabel('Type DELETE ALL to confirm').fill(phrase);
        expect(await run.isDisabled(), phrase).to.equal(true);
      }
      await page.getByLabel('Type DELETE ALL to confirm').press('Enter');
      await page.getByLabel('Type DELETE ALL to confirm').fill('DELETE ALL');
      expect(lastRequest('/admin/wipe')).to.equal(undefined);
      await run.click();
      await page.getByText('"done": "wipe"').waitFor();
      expect(await run.isDisabled()).to.equal(true);
    });

    it('that fails shows the Problem of the module', async () => {
      const page = await openTab('Actions', '&action=break');
      await press(page, 'Break');
      await page.getByRole('alert').getByText('the index is being built').waitFor();
      await page
        .getByRole('alert')
        .getByText(/request req_/)
        .waitFor();
    });

    it('of another module is offered on the page of the module', async () => {
      const page = await openTab('Routes');
      await press(page, 'Invoice a contact');
      await page.getByLabel('Customer').fill('ann');
      await press(page, 'Send an invoice');
      await page.getByText('"done": "invoice"').waitFor();
    });
  });

  describe('the configuration', () => {
    const cardOf = (page: Page, key: string) =>
      page.locator('section').filter({ has: page.getByRole('heading', { name: `crm · ${key}` }) });
    const write = async (page: Page, key: string) => {
      const card = cardOf(page, key);
      await card.getByRole('button', { name: 'Review the change' }).click();
      const difference = await card.locator('dl').innerText();
      await card.getByRole('button', { name: 'Write' }).click();
      await card.locator('dl').waitFor({ state: 'detached' });
      return difference.split(/\s+/);
    };

    it('is written after its difference was shown, and leaves a row of the audit', async () => {
      const page = await openTab('Configuration');
      await cardOf(page, 'page_size').getByLabel('Value').fill('75');
      expect(await write(page, 'page_size')).to.deep.equal(['Now', '50', 'Then', '75']);
      await cardOf(page, 'open').getByLabel('Value').selectOption('yes');
      await write(page, 'open');
      await cardOf(page, 'region').getByLabel('Value').selectOption('south');
      await write(page, 'region');
      await cardOf(page, 'limits').getByLabel('Value').fill('{"a": 2}');
      await write(page, 'limits');
      await page.reload();
      expect(await cardOf(page, 'page_size').getByLabel('Value').inputValue()).to.equal('75');
      expect(await cardOf(page, 'open').getByLabel('Value').inputValue()).to.equal('true');
      expect(await cardOf(page, 'region').getByLabel('Value').inputValue()).to.equal('south');
      const audit = await setup.open('/console/audit?module=crm');
      for (const key of ['page_size', 'open', 'region', 'limits']) {
        await audit.getByRole('row', { name: new RegExp(`config_write .*${key}`) }).waitFor();
      }
    });

    it('is not written when its value has changed since its difference was shown', async () => {
      const [first, second] = [await openTab('Configuration'), await openTab('Configuration')];
      const card = cardOf(first, 'ratio');
      await card.getByLabel('Value').fill('0.7');
      await card.getByRole('button', { name: 'Review the change' }).click();
      await cardOf(second, 'ratio').getByLabel('Value').fill('0.9');
      await write(second, 'ratio');
      await card.getByRole('button', { name: 'Write' }).click();
      await card.getByRole('alert').getByText('The value has changed meanwhile').waitFor();
      const difference = await card.locator('dl').innerText();
      expect(difference.split(/\s+/)).to.deep.equal(['Now', '0.9', 'Then', '0.7']);
      await second.reload();
      expect(await cardOf(second, 'ratio').getByLabel('Value').inputValue()).to.equal('0.9');
      await card.getByRole('button', { name: 'Write' }).click();
      await card.locator('dl').waitFor({ state: 'detached' });
      await second.reload();
      expect(await cardOf(second, 'ratio').getByLabel('Value').inputValue()).to.equal('0.7');
    });

    it('never shows a sensitive value', async () => {
      const page = await openTab('Configuration');
      const card = cardOf(page, 'api_key');
      expect(await card.getByLabel('New value').inputValue()).to.equal('');
      await card.getByLabel('New value').fill('a new secret');
      const difference = await write(page, 'api_key');
      expect(difference.join(' ')).to.equal('Now not shown Then the new value');
      expect(await page.content()).to.not.contain('a new secret');
      expect(await page.content()).to.not.contain('the default of a secret');
      const descriptor = await openTab('Descriptor');
      await descriptor.getByText('"api_key"').waitFor();
      expect(await descriptor.content()).to.not.contain('the default of a secret');
    });

    it('shows what waits for a restart, what is fixed, and what is not valid', async () => {
      const page = await openTab('Configuration');
      await cardOf(page, 'greeting').getByLabel('Value').fill('good day');
      await write(page, 'greeting');
      await cardOf(page, 'greeting').getByText('pending restart').waitFor();
      await cardOf(page, 'fixed').getByText('read only').waitFor();
      await cardOf(page, 'page_size').getByLabel('Value').fill('501');
      const card = cardOf(page, 'page_size');
      await card.getByRole('button', { name: 'Review the change' }).click();
      await card.getByRole('button', { name: 'Write' }).click();
      await card.getByRole('alert').getByText('validation_failed').waitFor();
    });
  });

  describe('grants', () => {
    it('are shown as a difference, with the lines that grant the rest', async () => {
      const page = await openTab('Grants');
      await page
        .getByRole('row', { name: /crm\.read.*granted/ })
        .first()
        .waitFor();
      await page.getByRole('row', { name: /crm\.deals.*not granted/ }).waitFor();
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

  it('does not show a module again that goes while the list is read', async () => {
    const describe = (name: string) => describeModule(name, setup.provider.url, []);
    setup.drop('brief.json', describe('brief'));
    const page = await setup.open('/console/modules');
    const brief = page.getByRole('link', { name: 'brief', exact: true });
    await brief.waitFor();
    const hold = async (route: Route) => {
      const response = await route.fetch();
      setup.drop('brief.json', null);
      await brief.waitFor({ state: 'detached' });
      await route.fulfill({ response });
    };
    await page.route('**/console/api/modules', hold, { times: 1 });
    setup.drop('later.json', describe('later'));
    await page.getByRole('link', { name: 'later', exact: true }).waitFor();
    await brief.waitFor({ state: 'detached' });
    setup.drop('later.json', null);
  });

  it('shows a module when its file is added, and removes it with the file', async () => {
    const page = await setup.open('/console/modules');
    await page.getByRole('link', { name: 'crm', exact: true }).waitFor();
    const second = describeCrm(setup.provider.url, { module: 'second' });
    setup.drop('second.json', second);
    await page.getByRole('link', { name: 'second', exact: true }).click();
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    await page.getByRole('cell', { name: 'Contact 0', exact: true }).waitFor();
    setup.drop('second.json', null);
    await page.getByText('There is no module of this name').waitFor();
  });
}
