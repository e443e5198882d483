import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { ConsoleSetup } from '../../../support/console/use-console.js';

export function describeModuleConfig(setup: ConsoleSetup): void {
  const openTab = (tab: string, more = '') => setup.open(`/console/modules/crm?tab=${tab}${more}`);

  describe('the configuration', () => {
    const cardOf = (page: Page, key: string) =>
      page.locator('section').filter({ has: page.getByRole('heading', { name: `crm · ${key}` }) });
    const write = async (page: Page, key: string) => {
      const card = cardOf(page, key);
      await page.getByRole('button', { name: `Review the change of crm ${key}` }).click();
      const difference = await card.locator('dl').innerText();
      await page.getByRole('button', { name: `Write crm ${key}`, exact: true }).click();
      await card.locator('dl').waitFor({ state: 'detached' });
      return difference.split(/\s+/);
    };

    it('is written after its difference was shown, and leaves a row of the audit', async () => {
      const page = await openTab('Configuration');
      await page.getByLabel('Value of crm page_size', { exact: true }).fill('75');
      expect(await write(page, 'page_size')).to.deep.equal(['Now', '50', 'Then', '75']);
      const done = cardOf(page, 'page_size').getByRole('status');
      await done.getByText(/^Written at .*: 75$/).waitFor();
      await cardOf(page, 'page_size').getByLabel('Value').fill('76');
      await done.getByText('Written').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Discard the change of crm page_size' }).click();
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

    it('is written once by two clicks', async () => {
      const page = await openTab('Configuration');
      const card = cardOf(page, 'page_size');
      let writes = 0;
      page.on('request', (request) => {
        if (request.postData()?.includes('config_write')) writes += 1;
      });
      await card.getByLabel('Value').fill('60');
      await card.getByRole('button', { name: 'Review the change' }).click();
      await card.getByRole('button', { name: 'Write' }).dblclick();
      await card.getByText(/^Written at .*: 60$/).waitFor();
      expect(writes).to.equal(1);
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

    it('keeps the lines of a text and of a secret', async () => {
      const page = await openTab('Configuration');
      const text = '-----BEGIN\nabc=\n-----END\n';
      for (const [key, label] of [
        ['greeting', 'Value'],
        ['api_key', 'New value'],
      ] as const) {
        await cardOf(page, key).getByLabel(label).focus();
        await page.keyboard.press('ControlOrMeta+A');
        await page.keyboard.insertText(text);
        expect(await cardOf(page, key).getByLabel(label).inputValue()).to.equal(text);
        const field = `document.getElementById('config-crm-${key}')`;
        const masked = await page.evaluate(`getComputedStyle(${field}).webkitTextSecurity`);
        expect(masked).to.equal(key === 'api_key' ? 'disc' : 'none');
        await write(page, key);
      }
      await page.reload();
      expect(await cardOf(page, 'greeting').getByLabel('Value').inputValue()).to.equal(text);
    });

    it('returns to its default, and to an empty text', async () => {
      const page = await openTab('Configuration');
      const press = (name: string) => page.getByRole('button', { name }).click();
      await cardOf(page, 'greeting').getByLabel('Value').fill('good day');
      await write(page, 'greeting');
      await press('Use the default of crm greeting');
      expect(await write(page, 'greeting')).to.include.members(['Then', 'hello']);
      const unused = page.getByRole('button', { name: 'Use the default of crm greeting' });
      expect(await unused.count()).to.equal(0);
      await cardOf(page, 'greeting').getByLabel('Value').fill('');
      expect((await write(page, 'greeting')).slice(-2)).to.deep.equal(['Then', 'empty']);
      await press('Set to empty the value of crm api_key');
      expect((await write(page, 'api_key')).slice(-2)).to.deep.equal(['Then', 'empty']);
    });

    it('never shows a sensitive value', async () => {
      const page = await openTab('Configuration');
      const card = cardOf(page, 'api_key');
      await page.getByLabel('New value of crm api_key', { exact: true }).waitFor();
      expect(await card.getByLabel('New value').inputValue()).to.equal('');
      await card.getByLabel('New value').fill('a new secret');
      const difference = await write(page, 'api_key');
      expect(difference.join(' ')).to.equal('Now not shown Then the new value');
      await card.getByText('the new value, which is not shown').waitFor();
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
}
