import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useConsole } from '../../support/console/use-console.js';
import { describeModule, toRoutes } from '../../support/http/modules.js';
import { slowness } from '../../support/slowness.js';

/** The number of routes of Microsoft Graph. */
const COUNT = 11_422;
const SHOWN = '11,422';
const FIRST_CONTENT_MS = 1000;
const MODULES = 21;

describe('a module of 11,422 routes in the console', () => {
  const setup = useConsole();

  before(async () => {
    const paths = Array.from({ length: COUNT }, (_, index) => `GET /parts/${index}/items/{id}`);
    const large = describeModule('large', 'http://127.0.0.1:9', toRoutes(paths, 'large.read'));
    setup.drop('large.json', large);
    for (let index = 0; index < MODULES; index += 1) {
      const name = `small-${String(index).padStart(2, '0')}`;
      const routes = toRoutes([`GET /only/${index}`], 'small.read');
      setup.drop(`${name}.json`, describeModule(name, 'http://127.0.0.1:9', routes));
    }
  });

  it('shows its routes at once, and finds one as its path is typed', async () => {
    const page = await setup.open('/console/modules/large');
    await page.getByText(`${SHOWN} routes`, { exact: true }).waitFor();
    expect(await readFirstContentMs(page)).to.be.below(FIRST_CONTENT_MS * slowness());
    expect(await page.getByRole('row').count()).to.be.within(20, 400);
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('get 7654/items');
    await page.getByText(`1 of ${SHOWN} routes`).waitFor();
    await page.getByRole('row', { name: /\/parts\/7654\/items\/\{id\}/ }).waitFor();
  });

  it('opens the page API with one of many modules', async () => {
    const page = await setup.open('/console/modules/small-07');
    await page.getByRole('link', { name: 'Call them on the page API' }).click();
    await page.getByText('1 module, 1 route', { exact: true }).waitFor();
    await page.getByText('/modules/small-07/http/only/7').waitFor();
    const documentRequest = page.waitForRequest('**/console/api/openapi.json*');
    await page.getByLabel('Module').selectOption('large');
    expect(new URL((await documentRequest).url()).search).to.equal('?module=large');
    await page.getByText(`1 module, ${COUNT} routes`, { exact: true }).waitFor();
    await page.getByRole('heading', { level: 2, name: 'large' }).click();
    await page.getByText(`and ${COUNT - 200} routes more: use the filter`).waitFor();
    await page.getByLabel('Filter').fill('parts/7654/');
    await page.getByText('/modules/large/http/parts/7654/items/{id}').waitFor();
  });

  it('begins the page API with the first of many modules', async () => {
    const page = await setup.open('/console/api');
    await page
      .getByRole('status')
      .getByText(/module/)
      .waitFor();
    const names = page.getByLabel('Module').getByRole('option');
    expect(await names.count()).to.be.above(MODULES);
    expect(await page.getByLabel('Module').inputValue()).to.equal(
      await names.nth(1).getAttribute('value'),
    );
  });
});

async function readFirstContentMs(page: Page): Promise<number> {
  const entry = "performance.getEntriesByName('first-contentful-paint')[0].startTime";
  const ms = (await page.evaluate(entry)) as number;
  console.log(`      first content after ${Math.round(ms)} ms`);
  return ms;
}
