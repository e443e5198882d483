import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  CONTACTS,
  describeLong,
  describe as describeManifest,
  describeNotes,
  FIRST_CONTACT,
  LONG_CONTACTS,
} from '../../../support/console/shop-modules.js';
import { type ConsoleSetup, OPERATOR } from '../../../support/console/use-console.js';

export function describeModuleData(setup: ConsoleSetup): void {
  const openTab = (tab: string, more = '') => setup.open(`/console/modules/crm?tab=${tab}${more}`);
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click();
  const lastRequest = (path: string) =>
    setup.provider.requests.findLast(({ target }) => target.startsWith(path));
  const bodyOf = (path: string) => JSON.parse(lastRequest(path)?.body.toString() ?? 'null');

  describe('data', () => {
    it('are filtered beyond the rows that the page holds', async () => {
      setup.drop('long.json', describeLong(setup.provider.url));
      const token = `${OPERATOR},long.read`;
      const page = await setup.open('/console/modules/long?tab=Data', { token });
      for (const read of [50, 100, 150, 200]) {
        await page.getByText(`${read} rows read so far, the module has more`).waitFor();
        await press(page, 'Show more');
      }
      await page.getByText(`${LONG_CONTACTS} rows, all are read`).waitFor();
      const last = page.getByRole('cell', { name: `Contact ${LONG_CONTACTS - 1}`, exact: true });
      await page.evaluate('scrollTo(0, 0)');
      await last.waitFor({ state: 'detached' });
      expect(await page.getByRole('row').count()).to.be.below(LONG_CONTACTS);
      const filter = page.getByLabel('Filter');
      await filter.fill(`contact ${LONG_CONTACTS - 1}`);
      await last.waitFor();
      await page.getByText(`1 of ${LONG_CONTACTS} rows, all are read`).waitFor();
      await filter.fill('');
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await last.waitFor();
      await page
        .getByRole('cell', { name: 'Contact 0', exact: true })
        .waitFor({ state: 'detached' });
    });

    it('are shown page by page, with exact integers', async () => {
      const page = await openTab('Data');
      const rows = page.getByRole('row');
      await page.getByRole('cell', { name: `${FIRST_CONTACT}`, exact: true }).waitFor();
      expect(await rows.count()).to.equal(1 + 50);
      for (const count of [100, CONTACTS]) {
        await press(page, 'Show more');
        await page.getByRole('cell', { name: `Contact ${count - 1}`, exact: true }).waitFor();
        expect(await rows.count()).to.equal(1 + count);
      }
      await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
      expect(lastRequest('/admin/contacts')?.target).to.contain('cursor=100');
    });

    it('are filtered among the rows that were read, and say how many these are', async () => {
      const page = await openTab('Data');
      await page.getByText('50 rows read so far, the module has more').waitFor();
      await page.getByLabel('Filter').fill('CONTACT 4');
      await page.getByText('11 of 50 rows read so far, the module has more').waitFor();
      expect(await page.getByRole('row').count()).to.equal(1 + 11);
      for (const read of [100, CONTACTS]) {
        await press(page, 'Show more');
        await page.getByText(`of ${read} rows`).waitFor();
      }
      await page.getByLabel('Filter').fill('contact 119');
      await page.getByText(`1 of ${CONTACTS} rows, all are read`).waitFor();
      await page.getByRole('button', { name: 'Show', exact: true }).click();
      const panel = page.getByRole('dialog');
      const since = await panel
        .getByText('Since')
        .locator('xpath=following-sibling::dd')
        .innerText();
      expect(since).to.not.match(/T.*Z/);
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

    it('offer the action of the module of a name, not of that with this name as its id', async () => {
      const action = { name: 'invoice', label: 'Send it elsewhere', invoke_path: '/admin/other' };
      const manifest = {
        ...{ protocol: 'modgate.manifest.v1', module_id: 'billing', http_routes: [] },
        capabilities: ['billing.write'],
        admin: { actions: [{ ...action, capability: 'billing.write' }] },
      };
      const other = describeManifest('another', setup.provider.url, manifest, ['billing.write']);
      setup.drop('another.json', other);
      const page = await setup.open('/console/modules/another');
      await page.getByText('another.json').waitFor();
      await page.goto(`${setup.host.url}/console/modules/crm?tab=Data`);
      await page.getByRole('button', { name: 'Show', exact: true }).first().click();
      await press(page, 'Invoice this contact');
      await page.getByRole('button', { name: 'Send an invoice' }).waitFor();
      await press(page, 'Invoice this contact');
      await page.route('**/console/api/manifests*', (route) => route.abort());
      await press(page, 'Invoice this contact');
      await page.getByRole('dialog').getByText('the host does not answer').waitFor();
      setup.drop('another.json', null);
    });

    describe('of records that are not alike', () => {
      const openNotes = (search: string) =>
        setup.open(`/console/modules/notes?${search}`, { token: `${OPERATOR},notes.use` });
      before(() => setup.drop('notes.json', describeNotes(setup.provider.url)));
      after(() => setup.drop('notes.json', null));

      it('have no value where a record lacks a member that every object inherits', async () => {
        const page = await openNotes('tab=Data');
        await page.getByRole('row', { name: 'Show 1 – –', exact: false }).waitFor();
        expect(await page.getByText('native code').count()).to.equal(0);
      });

      it('are shown if they are no objects', async () => {
        const page = await openNotes('tab=Data&entity=odd');
        for (const name of ['7', 'seven', '–', '[7]']) {
          await page.getByRole('cell', { name, exact: true }).waitFor();
        }
      });

      it('are contributed with their null, their empty text and their lines', async () => {
        const page = await openNotes('tab=Data');
        await page.getByRole('button', { name: 'Show', exact: true }).first().click();
        await press(page, 'Keep this note');
        await press(page, 'Keep the note');
        await page.getByText('"done": "keep"').waitFor();
        expect(bodyOf('/admin/keep')).to.deep.equal({ id: 1, text: null, title: '' });
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Show', exact: true }).last().click();
        expect(await page.getByRole('definition').nth(1).innerText()).to.equal('two\nlines');
        await press(page, 'Keep this note');
        await page.getByLabel('text').press('End');
        await page.keyboard.press('Shift+Enter');
        await page.keyboard.insertText('more\nthan two');
        await page.keyboard.press('Enter');
        await page.getByText('"done": "keep"').waitFor();
        const text = 'two\nlines\nmore\nthan two';
        expect(bodyOf('/admin/keep')).to.deep.equal({ id: 2, text, title: 'b' });
      });

      it('get null in an empty field that is required and can be null', async () => {
        const page = await openNotes('tab=Actions&action=keep');
        await page.getByLabel('title').fill('c');
        await press(page, 'Keep the note');
        await page.getByText('"done": "keep"').waitFor();
        expect(bodyOf('/admin/keep')).to.deep.equal({ text: null, title: 'c' });
      });
    });

    it('keep the focus of the keyboard while more of them are read', async () => {
      const page = await openTab('Data');
      await page.getByRole('button', { name: 'Show more' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('100 rows read so far').waitFor();
      await page.keyboard.press('Enter');
      await page.getByText(`${CONTACTS} rows, all are read`).waitFor();
    });

    it('stay when more of them cannot be read, which can be tried again', async () => {
      const page = await openTab('Data');
      await page.getByText('50 rows read so far').waitFor();
      await page.route('**/console-bridge/**', (route) => route.abort(), { times: 1 });
      await press(page, 'Show more');
      await press(page, 'Try again');
      await page.getByText('100 rows read so far').waitFor();
      expect(await page.getByRole('row').count()).to.equal(1 + 100);
    });

    it('are printed without what a reader presses', async () => {
      const page = await openTab('Data');
      await page.getByText('50 rows read so far').waitFor();
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      for (const place of [page.getByRole('navigation').first(), page.getByText('Sign out')]) {
        expect(await place.isVisible()).to.equal(false);
      }
      const scheme = 'getComputedStyle(document.documentElement).colorScheme';
      expect(await page.evaluate(scheme)).to.equal('light');
      await page.emulateMedia({ media: 'screen', colorScheme: null });
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

    it('is used with the keyboard alone', async () => {
      const page = await openTab('Actions');
      const hasFocus = (name: string) =>
        page.getByRole('button', { name, exact: true }).and(page.locator(':focus')).waitFor();
      await page.getByRole('button', { name: 'Open Break' }).press('Enter');
      await page.getByLabel('Input').and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await hasFocus('Break');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await hasFocus('Open Break');
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
}
