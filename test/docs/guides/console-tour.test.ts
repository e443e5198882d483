import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { useBrowser, type WatchedPage } from '../../support/browser/browser.js';
import { findAccessibilityViolations } from '../../support/browser/find-violations.js';
import { readDocumentedBlocks, runDocumented } from '../../support/docs/documented-commands.js';
import { useExamples } from '../../support/docs/use-examples.js';
import { MAIN } from '../../support/main-file.js';

const PAGE = 'docs/operate/console-tour.md';

describe('modules.d', () => {
  it('has no diagnostics', () => {
    const output = execFileSync(process.execPath, [MAIN, 'check', 'modules.d'], {
      encoding: 'utf8',
    });
    expect(output).to.match(/3 files, 0 errors, 0 warnings\n$/);
  });
});

describe(PAGE, () => {
  const browser = useBrowser();
  const examples = useExamples();
  const followed = new Set<string>();
  let watched: WatchedPage;
  let page: Page;

  before(async () => {
    watched = await browser.open(`${examples.host.url}/console`);
    page = watched.page;
  });
  after(async () => {
    await watched?.close();
  });

  /** An element that the tour names in bold. */
  const followRole = (name: string, role: 'button' | 'link', within: Page | Locator = page) => {
    followed.add(name);
    return within.getByRole(role, { name, exact: true }).first();
  };
  const press = (name: string, within?: Page | Locator) =>
    followRole(name, 'button', within).click();
  const follow = (name: string) => followRole(name, 'link').click();
  const field = (name: string) => {
    followed.add(name);
    return page.getByLabel(name).first();
  };
  const cardOf = (title: string) => {
    followed.add(title);
    return page.locator('.card', { hasText: title }).last();
  };

  it('1. signs in, and counts the calls of its command', async () => {
    await press('Sign in as developer');
    await followRole('Overview', 'link').waitFor();
    expect(await page.evaluate('document.activeElement.innerText')).to.equal('Overview');
    const [, calls] = readDocumentedBlocks(PAGE);
    await runDocumented(calls?.body ?? '', examples.host.url);
    await page.locator('.facts dd', { hasText: /^20$/ }).waitFor();
  });

  it('2. shows the data of the shop, and markup as text', async () => {
    await follow('Modules');
    await page.getByRole('link', { name: 'shop' }).click();
    await follow('Data');
    const rows = page.locator('tbody tr');
    await page.getByRole('cell', { name: '<b>Smith & Sons</i>' }).first().waitFor();
    expect(await rows.count()).to.equal(50);
    await press('Show more');
    await page.getByRole('cell', { name: '261', exact: true }).waitFor();
  });

  it('3. offers actions of both modules for an order', async () => {
    const row = page.getByRole('row', { name: /<b>Smith & Sons<\/i>/ }).first();
    await press('Show', row);
    const panel = page.getByRole('dialog');
    await followRole('Ship this order', 'button', panel).waitFor();
    await press('Write a note about this order', panel);
    expect(await panel.getByLabel('Title').inputValue()).to.equal('<b>Smith & Sons</i>');
    await press('Write a note', panel);
    await panel.getByText('"title": "<b>Smith & Sons</i>"').waitFor();
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    // The focus is where it was before.
    expect(await page.evaluate('document.activeElement.innerText')).to.equal('Show');
  });

  it('4. invokes the dangerous action after its phrase', async () => {
    await follow('Actions');
    await cardOf('Ship an order').getByText('medium danger').waitFor();
    await cardOf('Sum up the orders').getByText('low danger').waitFor();
    const card = cardOf('Cancel all open orders');
    await card.getByText('high danger').waitFor();
    await card.getByRole('button', { name: 'Open' }).click();
    await card.getByLabel('Reason').fill('flood');
    await card.getByLabel('Type CANCEL to confirm').fill('CANCEL');
    await card.getByRole('button', { name: 'Cancel all open orders' }).click();
    await card.getByText(/"cancelled": \d+/).waitFor();
  });

  it('5. makes an action available with the lines of the tab Grants', async () => {
    const denied = cardOf('Change all prices').getByText('does not grant shop.prices.write');
    await denied.waitFor();
    await follow('Grants');
    const lines = await page.locator('pre').innerText();
    const file = join(dirname(examples.stateDir), 'modules.d/shop.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^console:[\s\S]*/m, `${lines}\n`));
    await page.getByText('The descriptor grants this console all').waitFor();
    await follow('Actions');
    const open = cardOf('Change all prices').getByRole('button', { name: 'Open' });
    expect(await open.isEnabled()).to.equal(true);
  });

  it('6. shows a change of the configuration before it is written', async () => {
    await follow('Configuration');
    const card = page.locator('.card', { hasText: 'shop · discount' });
    await card.getByLabel('Value').fill('0.25');
    followed.add('Review the change').add('Write');
    await card.getByRole('button', { name: 'Review the change of shop discount' }).click();
    expect(await card.locator('.note').innerText()).to.match(/Now\s+0\.05\s+Then\s+0\.25/);
    await card.getByRole('button', { name: 'Write shop discount' }).click();
    await card.locator('.note').waitFor({ state: 'detached' });
    expect(await card.getByLabel('Value').inputValue()).to.equal('0.25');
  });

  it('7. explains a call, and why a caller would be rejected', async () => {
    await follow('Calls');
    await page.getByRole('button', { name: 'GET /orders' }).first().click();
    await follow('Explain this call');
    for (const name of ['Decided then', 'Decided now']) {
      const steps = page.getByRole('list', { name, exact: true }).first();
      await steps.getByRole('listitem').filter({ hasText: 'capability' }).first().waitFor();
    }
    await follow('Explain');
    await page.getByLabel('Path, as a caller sends it').fill('/modules/shop/http/orders');
    await page.getByLabel('As whom').fill('dev-service:job');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    expect(await page.locator('.steps li.fail').innerText()).to.match(
      /capability[\s\S]*shop\.read/,
    );
  });

  it('8. verifies the rows that the tour has left', async () => {
    await follow('Audit');
    await page.getByRole('cell', { name: 'cancel_open' }).waitFor();
    await press('Verify chain');
    await page.getByText('3 rows form one chain.').waitFor();
  });

  it('9. tries a route on the page API', async () => {
    await follow('API');
    await field('Module').selectOption('shop');
    await field('Filter').fill('orders/{id}');
    await page.locator('.operation > summary', { hasText: 'shop/http/orders/{id}' }).click();
    const operation = page.locator('.operation[open]');
    await operation.getByLabel('id (path)').fill('360');
    await press('Send', operation);
    await operation.locator('.response').getByText(/^200 /).waitFor();
  });

  it('shows charts of its calls on the overview', async () => {
    await follow('Overview');
    await page.getByRole('img', { name: /^Calls per second, last 15 minutes\./ }).waitFor();
    await page.getByRole('img', { name: /^Failed calls, last 15 minutes\./ }).waitFor();
    const latency = page.getByRole('region', { name: 'Latency by module' });
    // Its own calls of the bridge are among them.
    await latency.getByRole('row', { name: /^shop [\d.]+ ms [\d.]+ ms \d\d$/ }).waitFor();
    expect(await findAccessibilityViolations(page)).to.deep.equal([]);
    expect(await watched.violations()).to.deep.equal([]);
  });

  it('names nothing else in bold', () => {
    const text = readFileSync(PAGE, 'utf8');
    const bold = [...text.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) =>
      name.replaceAll('\n', ' '),
    );
    // It chooses light, dark or the theme of the system.
    const others = bold.filter((name) => name !== 'Theme' && !followed.has(name));
    expect(others).to.deep.equal([]);
  });
});
