import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import {
  FIND_BROKEN_WORDS,
  FIND_FOCUS_FAULT,
} from '../../../support/browser/find-layout-faults.js';
import { findAccessibilityViolations } from '../../../support/browser/find-violations.js';
import { FIND_WIDE } from '../../../support/console/hostile-texts.js';
import { type ConsoleSetup, untilLoaded } from '../../../support/console/use-console.js';
import { waitUntil } from '../../../support/http/wait-until.js';

/** Each page, and each part of a module, with its heading of level 1. */
const PAGES: Readonly<Record<string, string>> = {
  '/console': 'Overview',
  '/console/modules': 'Modules',
  '/console/modules/crm': 'crm',
  '/console/modules/crm?tab=Endpoints': 'crm',
  '/console/modules/crm?tab=Data': 'crm',
  '/console/modules/crm?tab=Data&entity=deals': 'crm',
  '/console/modules/crm?tab=Actions&action=merge': 'crm',
  '/console/modules/crm?tab=Configuration': 'crm',
  '/console/modules/crm?tab=Manifest': 'crm',
  '/console/modules/crm?tab=Descriptor': 'crm',
  '/console/modules/crm?tab=Grants': 'crm',
  '/console/modules/nowhere': 'nowhere',
  '/console/calls': 'Calls',
  '/console/explain': 'Explain',
  '/console/explain?method=GET&target=/modules/crm/http/contacts': 'Explain',
  '/console/audit': 'Audit',
  '/console/api': 'API',
  '/console/approvals': 'Approvals',
  '/console/plugins': 'Plugins',
  '/console/releases': 'Releases',
  '/console/nowhere': 'Page not found',
  '/console/modules/acme/danger': 'Page not found',
};
const NARROW = { width: 360, height: 800 };
/** The texts of one page; the rows of a table have the same ones. */
const MOST_CONTROLS = 60;
const COUNT_CONTROLS =
  "document.querySelectorAll('a[href], button:enabled, input, select, textarea, summary, [tabindex]').length";
const KILOBYTE = 1024;
const EMPTY = { samples: [] };
/** Requests one after the other: what reads in a loop reads about as often. */
const TURNS = 40;
/** The themes differ in nothing else. */
const RULES_OF_COLORS = ['color-contrast', 'link-in-text-block'];

export function describeEveryPage(setup: ConsoleSetup): void {
  /** Follows a link of the page without loading it again. */
  const goTo = async (page: Page, path: string) => {
    const before = new URL(page.url()).pathname;
    const go = `history.pushState(null, '', ${JSON.stringify(path)})`;
    await page.evaluate(`${go}; dispatchEvent(new PopStateEvent('popstate'))`);
    const name = PAGES[path] ?? '';
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    await untilLoaded(page);
    const title = `${name} · modgate`;
    await waitUntil(`the title ${title}`, async () => (await page.title()) === title);
    if (path.split('?')[0] === before) return;
    // Two pages may have the same title: the new one is there when its heading has the focus.
    await untilHeadingHasFocus(page);
  };
  const untilHeadingHasFocus = (page: Page) =>
    page.locator('h1:focus').waitFor({ state: 'attached' });

  /** Checks both themes; scripts of the page do not detect the change. */
  const check = async (page: Page, path: string) => {
    expect(await findAccessibilityViolations(page), `${path}, light`).to.deep.equal([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    const violations = await findAccessibilityViolations(page, RULES_OF_COLORS);
    expect(violations, `${path}, dark`).to.deep.equal([]);
    await page.emulateMedia({ colorScheme: 'light' });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, path).to.be.at.most(NARROW.width);
  };

  it('has its heading, no WCAG 2.2 AA violation in both themes, and fits 360 and 600 px', async () => {
    const signIn = await setup.open('/console', { token: null, viewport: NARROW });
    await signIn.getByRole('heading', { name: 'Sign in' }).waitFor();
    await check(signIn, 'sign-in');
    const page = await setup.open('/console', { viewport: NARROW });
    for (const path of Object.keys(PAGES)) {
      await goTo(page, path);
      await check(page, path);
      for (const width of [600, NARROW.width]) {
        await page.setViewportSize({ ...NARROW, width });
        const broken = await page.evaluate(FIND_BROKEN_WORDS);
        expect(broken, `words broken over lines, ${path}, ${width} px`).to.deep.equal([]);
      }
    }
  });

  it('shows status and failure of a call at 360 px', async () => {
    await fetch(`${setup.host.url}/modules/crm/http/contacts`, {
      headers: { authorization: 'Bearer dev-service:job' },
    });
    const page = await setup.open('/console/calls', { viewport: NARROW });
    await page.getByRole('cell', { name: '403' }).first().waitFor();
    for (const name of ['Route', 'Status', 'Failure']) {
      const box = await page.getByRole('columnheader', { name }).boundingBox();
      expect((box?.x ?? 1000) + (box?.width ?? 0), name).to.be.at.most(NARROW.width);
    }
  });

  it('shows all columns of the grants at 360 px', async () => {
    const page = await setup.open('/console/modules/crm?tab=Grants', { viewport: NARROW });
    for (const name of ['Permission', 'Granted', 'Opens']) {
      const box = await page.getByRole('columnheader', { name, exact: true }).boundingBox();
      expect((box?.x ?? 1000) + (box?.width ?? 0), name).to.be.at.most(NARROW.width);
    }
  });

  it('shows every control that gets the focus, at 360 px', async () => {
    const page = await setup.open('/console', { viewport: NARROW });
    for (const path of Object.keys(PAGES)) {
      await goTo(page, path);
      const controls = (await page.evaluate(COUNT_CONTROLS)) as number;
      for (let turn = 0; turn < Math.min(controls, MOST_CONTROLS); turn += 1) {
        await page.keyboard.press('Tab');
        expect(await page.evaluate(FIND_FOCUS_FAULT), path).to.equal(null);
      }
    }
  });

  it('fits 360 px with a route of many parameters and long names', async () => {
    const parameters = Array.from({ length: 11 }, (_, at) => ({
      ...{ name: `q.get_q.query.i_${at}[]`, in: 'query', required: true },
      schema: { type: 'array', items: { type: 'string', format: `q.get_q.query.i_${at}[]` } },
      description: 'x'.repeat(60),
    }));
    const document = { openapi: '3.1.0', info: {}, paths: { '/q': { get: { parameters } } } };
    const page = await setup.open('/console/api', {
      viewport: NARROW,
      prepare: async (target) => {
        await target.route('**/console/api/openapi.json', (route) =>
          route.fulfill({ json: document }),
        );
      },
    });
    await page.locator('.operation summary').first().click();
    await page.getByRole('region', { name: 'Parameters' }).waitFor();
    expect(await page.evaluate(FIND_WIDE)).to.deep.equal([]);
  });

  it('shows no routes of another module for one that it cannot read', async () => {
    const page = await setup.open('/console/api?module=crm');
    await page.locator('.operation').first().waitFor();
    await page.evaluate(`(() => {
      const gone = new URL(location.href);
      gone.searchParams.set('module', 'gone');
      history.pushState(null, '', gone);
      dispatchEvent(new PopStateEvent('popstate'));
    })()`);
    await page.getByRole('alert').waitFor();
    await page.locator('.operation').first().waitFor({ state: 'detached' });
    expect(await page.getByLabel('Module').inputValue()).to.equal('gone');
  });

  it('can be shared as a URL', async () => {
    for (const [path, name] of [
      ['/console/modules/crm?tab=Data', 'crm'],
      ['/console/calls?status=403', 'Calls'],
    ] as const) {
      const page = await setup.open(path);
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      expect(page.url()).to.equal(setup.host.url + path);
    }
  });

  it('needs at most 150 KiB for the first view, compressed', async () => {
    let bytes = 0;
    const page = await setup.open('/console', {
      prepare: async (target) => {
        const session = await target.context().newCDPSession(target);
        await session.send('Network.enable');
        session.on('Network.loadingFinished', ({ encodedDataLength }) => {
          bytes += encodedDataLength;
        });
      },
    });
    await page.getByText('Live', { exact: true }).waitFor();
    await untilLoaded(page);
    console.log(`      ${Math.ceil(bytes / KILOBYTE)} KiB`);
    expect(bytes).to.be.above(10 * KILOBYTE);
    expect(bytes).to.be.at.most(150 * KILOBYTE);
  });

  it('reads the calls of the overview once if samples arrive first', async () => {
    const failed: string[] = [];
    const sample = { at: Date.now(), calls: 1, failed: 0, in_flight: 0 };
    const page = await setup.open('/console', {
      prepare: async (target) => {
        target.on('requestfailed', (request) => failed.push(request.url()));
        await target.route('**/console/api/samples', (route) =>
          route.fulfill({ json: { samples: [sample] } }),
        );
        const continueLate = async (route: Route) => {
          await target.getByText('Calls per second').waitFor();
          await route.continue();
        };
        await target.route('**/console/api/calls?*', continueLate, { times: 1 });
      },
    });
    await page.getByText('Calls per second').waitFor();
    await untilLoaded(page);
    expect(failed).to.deep.equal([]);
  });

  it('reads nothing again while nothing changes, also before the first sample', async () => {
    for (const path of ['/console', '/console/modules/crm', '/console/calls', '/console/audit']) {
      const targets: string[] = [];
      const page = await setup.open(path, {
        prepare: async (target) => {
          await target.route('**/console/api/samples', (route) => route.fulfill({ json: EMPTY }));
          target.on('request', (request) => targets.push(new URL(request.url()).pathname));
        },
      });
      await page.getByText('Live', { exact: true }).waitFor();
      await untilLoaded(page);
      targets.length = 0;
      const read = "fetch('/console/api/host').then((response) => response.text())";
      for (let turn = 0; turn < TURNS; turn += 1) await page.evaluate(read);
      const others = targets.filter((target) => target !== '/console/api/host');
      // A sample, or the state of the modules, may have come meanwhile.
      expect(others.length, `${path}: ${others}`).to.be.below(TURNS / 4);
    }
  });

  it('is reached by keyboard alone', async () => {
    const page = await setup.open('/console');
    await page.getByRole('link', { name: 'Modules', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const focused = () => page.evaluate('document.activeElement.textContent.trim()');
    for (let step = 0; step < 20 && (await focused()) !== 'Calls'; step += 1) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor();
    await untilHeadingHasFocus(page);
    expect(await focused()).to.equal('Calls');
  });

  it('is disabled in the navigation without its scope, which is named', async () => {
    const page = await setup.open('/console/calls', { token: 'dev-user:bob:modgate.calls.read' });
    const audit = page.locator('nav [aria-disabled]', { hasText: 'Audit' });
    await audit.waitFor();
    expect(await audit.innerText()).to.include('modgate.audit.read');
    expect(await page.locator('nav a[href="/console/calls"]').count()).to.equal(1);
  });
}
