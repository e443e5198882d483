import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useConsole } from '../../support/console/use-console.js';

const COUNT = 10_000;
const SHOWN = '10,000';
const MEBIBYTE = 1_048_576;

describe('the list of 10,000 modules', () => {
  const setup = useConsole();

  it('stays small with 10,000 modules, and finds one by keyboard', async () => {
    const page = await setup.open('/console/modules', { prepare: stubModules });
    await page.getByText(`${SHOWN} modules`, { exact: true }).waitFor();
    expect(await countRows(page)).to.be.within(20, 400);
    await page.keyboard.press('End');
    await page.getByRole('link', { name: 'module-09999' }).waitFor();
    expect(await countRows(page)).to.be.within(20, 400);
    const search = page.getByRole('searchbox');
    await search.focus();
    await page.keyboard.type('module-07654');
    await page.getByText(`1 of ${SHOWN} modules`).waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('not there');
    await page.getByText('No module matches').waitFor();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('module-07654');
    for (let step = 0; step < 15; step += 1) {
      if ((await page.evaluate('document.activeElement.textContent')) === 'module-07654') break;
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'module-07654' }).waitFor();
  });

  it('sorts and filters 10,000 modules, and follows their counts', async () => {
    const page = await setup.open('/console/modules', { prepare: stubModules });
    await page.getByRole('button', { name: /^Calls/ }).click();
    await page.getByRole('button', { name: /^Calls/ }).click();
    // The event has this number, the list another one.
    await page.getByRole('row', { name: /module-00042 .*\b999,999\b/ }).waitFor();
    await page.getByLabel('State').selectOption('rejected');
    await page.getByText(`1000 of ${SHOWN} modules`).waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByText('and 980 more, see Modules').waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    console.log(`      ${Math.ceil(usedSize / MEBIBYTE)} MiB`);
    expect(usedSize).to.be.below(64 * MEBIBYTE);
  });
});

const countRows = (page: Page) => page.getByRole('row').count();

/** The page gets 10,000 modules, and then an event with the counts of all. */
async function stubModules(page: Page): Promise<void> {
  const names = Array.from({ length: COUNT }, (_, at) => `module-${String(at).padStart(5, '0')}`);
  const modules = names.map((name, at) => ({
    ...{ name, module_id: `acme/${name}`, file: `${name}.yaml`, since: '2026-01-31T12:00:00Z' },
    state: at % 10 === 3 ? 'rejected' : 'live',
    ...{ digest: `sha256:${'a'.repeat(64)}`, reason: null, hint: null },
    console: { release: `sha256:${'a'.repeat(64)}`, ui: [], grants: [] },
    counts: { calls: at % 1000, failed: 0, in_flight: 0, queued: 0 },
    endpoints: [{ endpoint: 'http://10.0.0.1:4100', state: 'closed' }],
  }));
  const counts = Object.fromEntries(
    names.map((name, at) => [name, [at === 42 ? 999_999 : at % 1000, 0, 0, 0]]),
  );
  const counted = formatEvent('counts', { at: Date.now(), modules: counts });
  let listed = () => {};
  const isListed = new Promise<void>((resolve) => {
    listed = resolve;
  });
  await page.route('**/console/api/modules', async (route) => {
    await route.fulfill({ json: { modules, ignored: [], workers: 1 } });
    listed();
  });
  const bodies = [`retry: 100\n${formatEvent('hello', { boot: '1' })}`];
  await page.route('**/console/api/events*', async (route) => {
    const body = bodies.shift();
    if (body === undefined) await isListed;
    const last = `retry: 500\n${counted}`;
    await route.fulfill({ contentType: 'text/event-stream', body: body ?? last });
  });
}

function formatEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
