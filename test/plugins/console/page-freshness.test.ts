import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { useConsole } from '../../support/console/use-console.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';

const LIST = '**/console/api/modules';
/** Longer than the pause after which a page opens its stream again. */
const SILENCE_MS = 60_000;
/** Longer than the time after which a page in the background has no stream, but no silence. */
const BACKGROUND_MS = 12_000;

describe('a page of the console that missed a change', () => {
  const setup = useConsole();
  const drop = (name: string) =>
    setup.drop(`${name}.json`, describeModule(name, setup.provider.url, []));
  const remove = (name: string) => setup.drop(`${name}.json`, null);
  const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true });

  it('reads the list again when that has failed', async () => {
    const page = await setup.open('/console/modules');
    await link(page, 'crm').waitFor();
    const failure = { status: 503, json: { code: 'unavailable', status: 503, detail: 'no list' } };
    const fail = (route: Route) => route.fulfill(failure);
    await page.route(LIST, fail);
    drop('added');
    await page.getByText('no list').waitFor();
    await page.unroute(LIST, fail);
    await link(page, 'added').waitFor();
    await page.getByText('no list').waitFor({ state: 'detached' });
    remove('added');
    await link(page, 'added').waitFor({ state: 'detached' });
  });

  it('does not stay with a list that was old when it came', async () => {
    drop('gone');
    const page = await setup.open('/console/modules/gone');
    const absence = page.getByText('There is no module of this name');
    await absence.waitFor({ state: 'detached' });
    let old = '';
    await waitUntil('the list with the module', async () => {
      old = await (await page.request.get(`${setup.host.url}/console/api/modules`)).text();
      return old.includes('"gone"');
    });
    const response = { contentType: 'application/json', body: old };
    remove('gone');
    await absence.waitFor();
    // Every list is the old one until the page shows it.
    let isOld = true;
    await page.route(LIST, (route) => (isOld ? route.fulfill(response) : route.fallback()));
    drop('other');
    await absence.waitFor({ state: 'detached' });
    isOld = false;
    await absence.waitFor();
    remove('other');
  });

  it('shows a file that is ignored from now on, until it is removed', async () => {
    const page = await setup.open('/console/modules');
    await link(page, 'crm').waitFor();
    setup.drop('notes.txt', {});
    await page.getByText('notes.txt').waitFor({ state: 'attached' });
    setup.drop('notes.txt', null);
    await page.getByText('notes.txt').waitFor({ state: 'detached' });
  });

  it('opens its stream again when nothing comes any more', async () => {
    drop('mute');
    const prepare = async (page: Page) => {
      await page.clock.install();
      await page.addInitScript(BECOME_DEAF);
    };
    const page = await setup.open('/console/modules', { prepare });
    await page.getByText('Live', { exact: true }).waitFor();
    await link(page, 'mute').waitFor();
    await page.evaluate('window.isDeaf = true');
    remove('mute');
    await page.clock.fastForward(SILENCE_MS);
    await link(page, 'mute').waitFor({ state: 'detached' });
  });

  it('has no stream in the background, and follows again in the foreground', async () => {
    const prepare = async (page: Page) => {
      await page.clock.install();
      await page.addInitScript(HIDE);
    };
    const page = await setup.open('/console/modules', { prepare });
    await page.getByText('Live', { exact: true }).waitFor();
    const closed = page.waitForEvent('requestfailed', (request) =>
      request.url().endsWith('/events'),
    );
    await page.evaluate('hide(true)');
    await page.clock.fastForward(BACKGROUND_MS);
    await closed;
    drop('meanwhile');
    await page.evaluate('hide(false)');
    await link(page, 'meanwhile').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    remove('meanwhile');
    await link(page, 'meanwhile').waitFor({ state: 'detached' });
  });

  it('loads in any number of windows, of which four have a stream', async () => {
    const first = await setup.open('/console/modules');
    const windows = [first];
    while (windows.length < 8) {
      const page = await first.context().newPage();
      await page.goto(first.url());
      await link(page, 'crm').waitFor();
      windows.push(page);
    }
    const countOf = async (text: RegExp) => {
      const counts = windows.map((page) => page.getByText(text).count());
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
    };
    await waitUntil('four streams', async () => (await countOf(/^Live$/)) === 4);
    expect(await countOf(/^Other windows are live/)).to.equal(4);
    drop('everywhere');
    for (const page of windows) await link(page, 'everywhere').waitFor();
    // The next window follows the host in the place of one that is closed.
    for (const page of windows.splice(1, 3)) await page.close();
    await waitUntil('four streams again', async () => (await countOf(/^Live$/)) === 4);
    for (const page of windows.slice(1)) await page.close();
    remove('everywhere');
    await link(first, 'everywhere').waitFor({ state: 'detached' });
  });
});

/** Another tab is in the foreground, or not. */
const HIDE = `{
  let isHidden = false;
  Object.defineProperty(document, 'hidden', { get: () => isHidden });
  window.hide = (next) => {
    isHidden = next;
    document.dispatchEvent(new Event('visibilitychange'));
  };
}`;

/** The streams of the page stay open without an event, as after a network that was left. */
const BECOME_DEAF = `{
  const listen = EventSource.prototype.addEventListener;
  const deaf = new WeakSet();
  const open = [];
  Object.defineProperty(window, 'isDeaf', { set: () => open.forEach((one) => deaf.add(one)) });
  EventSource.prototype.addEventListener = function (name, listener) {
    open.push(this);
    listen.call(this, name, (event) => deaf.has(this) || listener(event));
  };
}`;
