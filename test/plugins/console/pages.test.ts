import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser, type WatchedPage } from '../../support/browser/browser.js';
import { findAccessibilityViolations } from '../../support/browser/find-violations.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

/** What an operator of everything signs in with. */
const OPERATOR =
  'dev-user:ann:console.admin,modgate.modules.read,modgate.calls.read,modgate.plugins.read,modgate.audit.read,modgate.explain';
const HOSTILE = '<img src=x onerror="document.title=1"><script>alert(1)</script>';
const PAGES: Readonly<Record<string, string>> = {
  '/console': 'Overview',
  '/console/modules': 'Modules',
  '/console/modules/notes': 'notes',
  '/console/modules/notes?tab=Data': 'notes',
  '/console/modules/notes?tab=Actions&action=purge': 'notes',
  '/console/modules/notes?tab=Configuration': 'notes',
  '/console/modules/notes?tab=Grants': 'notes',
  '/console/calls': 'Calls',
  '/console/explain': 'Explain',
  '/console/audit': 'Audit',
  '/console/api': 'API',
  '/console/plugins': 'Plugins',
};

describe('the pages of the console', () => {
  const browser = useBrowser();
  let host: RunningHost;
  let watched: WatchedPage;

  before(async () => {
    const files = ['notes.yaml', 'notes/manifest.yaml', 'notes/notes.mjs'];
    host = await startHost({
      files: Object.fromEntries(
        files.map((file) => [file, readFileSync(`modules.d/${file}`, 'utf8')]),
      ),
    });
    await callNotes({ title: HOSTILE, text: 'two litres' });
  });
  after(() => host.stop());
  afterEach(async () => {
    expect(await watched.violations()).to.deep.equal([]);
    expect(watched.outsideRequests).to.deep.equal([]);
    await watched.close();
  });

  const callNotes = (body: object) =>
    fetch(`${host.url}/modules/notes/http/notes`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer dev-service:job:notes.write',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });

  const open = async (path = '/console', options?: object) => {
    watched = await browser.open(host.url + path, options);
    return watched.page;
  };
  const signIn = async (page: Page, token = OPERATOR) => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
  };
  const goTo = async (page: Page, path: string) => {
    await page.goto(host.url + path);
    await page.getByRole('heading', { level: 1, name: PAGES[path] ?? '', exact: true }).waitFor();
  };

  it('sign in with a token, keep it out of reach of scripts, and sign out', async () => {
    const page = await open('/console/modules');
    await signIn(page);
    await page.getByRole('heading', { level: 1, name: 'Modules' }).waitFor();
    const reachable = await page.evaluate(
      'document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)',
    );
    expect(reachable).to.not.include('dev-user');
    expect(reachable).to.not.include('modgate=');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });

  it('say why a token is rejected', async () => {
    const page = await open();
    await page.getByLabel('Token').fill('nonsense');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('the token is not valid').waitFor();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`have no violation of WCAG 2.2 AA, ${colorScheme}, and fit a width of 360 px`, async () => {
      const page = await open('/console', { colorScheme, viewport: { width: 360, height: 800 } });
      expect(await findAccessibilityViolations(page)).to.deep.equal([]);
      await signIn(page);
      for (const path of Object.keys(PAGES)) {
        await goTo(page, path);
        await page.getByText('Loading…').waitFor({ state: 'detached' });
        expect(await findAccessibilityViolations(page), path).to.deep.equal([]);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect(width, path).to.be.at.most(360);
      }
    });
  }

  it('show what providers send as text', async () => {
    const page = await open('/console/modules/notes?tab=Data');
    await signIn(page);
    await page.getByRole('cell', { name: HOSTILE }).waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).first().click();
    await page.getByText('two litres').first().waitFor();
    expect(await page.title()).to.equal('notes · modgate');
  });

  it('invoke an action after its phrase has been typed, and show the result', async () => {
    const page = await open('/console/modules/notes?tab=Actions&action=purge');
    await signIn(page);
    await page.getByLabel('Title').fill('nothing has this title');
    const run = page.getByRole('button', { name: 'Delete notes with a title' });
    expect(await run.isDisabled()).to.equal(true);
    await page.getByLabel('Type PURGE to confirm').fill('PURGE');
    await run.click();
    await page.getByText('"deleted": 0').waitFor();
  });

  it('write a value of the configuration after its difference was shown', async () => {
    const page = await open('/console/modules/notes?tab=Configuration');
    await signIn(page);
    const card = page.locator('.card', { hasText: 'max_notes' });
    await card.getByLabel('Value').fill('900');
    await card.getByRole('button', { name: 'Review the change' }).click();
    expect(await card.locator('.note').innerText()).to.match(/Now\s+1000\s+Then\s+900/);
    await card.getByRole('button', { name: 'Write' }).click();
    await card.locator('.note').waitFor({ state: 'detached' });
    expect(await card.getByLabel('Value').inputValue()).to.equal('900');
  });

  it('verify the chain of the audit in the browser', async () => {
    const page = await open('/console/audit');
    await signIn(page);
    await page.getByRole('button', { name: 'Verify chain' }).click();
    await page.getByText(/rows form one chain/).waitFor();
  });

  it('show calls as they happen, and explain one', async () => {
    const page = await open('/console/calls');
    await signIn(page);
    await page.getByText('Live', { exact: true }).waitFor();
    await callNotes({ title: 'seen at once', text: '' });
    await page.getByRole('button', { name: 'POST /notes' }).first().click();
    await page.getByRole('link', { name: 'Explain this call' }).click();
    await page.getByRole('link', { name: /Explain how the host decides/ }).click();
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('Step by step').waitFor();
  });

  it('show the routes of every module, and try one as the actor', async () => {
    const page = await open('/console/api');
    await signIn(page, 'dev-user:ann:console.admin,notes.read');
    await page.locator('.operation > summary', { hasText: '/notes/{id}' }).first().click();
    const operation = page.locator('.operation[open]');
    await operation.getByLabel('id (path)').fill('1');
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation
      .locator('.response')
      .getByText(/^\d{3} /)
      .waitFor();
  });

  it('explain a denial to the last check', async () => {
    const page = await open('/console/explain?method=GET&target=/modules/notes/http/notes');
    await signIn(page);
    await page.getByLabel('As whom').fill('dev-service:job');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page
      .getByText(/notes\.read/)
      .first()
      .waitFor();
    expect(await page.locator('.steps').innerText()).to.match(/capability\s+deny/);
  });

  it('disable what the actor may not open, and name the scope', async () => {
    const page = await open();
    await signIn(page, 'dev-user:bob:modgate.calls.read');
    const audit = page.locator('nav [aria-disabled]', { hasText: 'Audit' });
    await audit.waitFor();
    expect(await audit.innerText()).to.include('modgate.audit.read');
  });

  it('show a module as soon as its file lands, and when it goes', async () => {
    const page = await open('/console/modules');
    await signIn(page);
    await page.getByRole('link', { name: 'notes' }).waitFor();
    const descriptor = readFileSync('modules.d/notes.yaml', 'utf8');
    host.drop('second.yaml', descriptor.replace('module: notes', 'module: second'));
    await page.getByRole('link', { name: 'second' }).waitFor();
    host.remove('second.yaml');
    await page.getByRole('link', { name: 'second' }).waitFor({ state: 'detached' });
  });
});
