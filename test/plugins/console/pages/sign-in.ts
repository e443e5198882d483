import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { callConsole, OPS, SAME_ORIGIN } from '../../../support/console/console-client.js';
import { type ConsoleSetup, OPERATOR } from '../../../support/console/use-console.js';
import { parseJson } from '../../../support/http/call.js';

/** Everything that a script of the page can read of what the browser keeps. */
const READ_STORAGE = `(async () => {
  const databases = await indexedDB.databases();
  return JSON.stringify([
    document.cookie, { ...localStorage }, { ...sessionStorage }, databases, await caches.keys(),
    document.documentElement.outerHTML, [...document.querySelectorAll('input')].map((one) => one.value),
    history.state, name,
  ]);
})()`;

const BLOCK_STORAGE = `
  Object.defineProperty(window, 'localStorage', { get() { throw new Error('blocked'); } });
`;

export function describeSignIn(setup: ConsoleSetup): void {
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const heading = (page: Page, name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true });

  describe('sign-in', () => {
    it('by token keeps it out of reach of scripts, and ends with sign-out', async () => {
      const page = await setup.open('/console/modules', { token: null });
      await page.getByLabel('Token').fill(` ${OPERATOR} `);
      await button(page, 'Sign in').click();
      await heading(page, 'Modules').waitFor();
      const stored = (await page.evaluate(READ_STORAGE)) as string;
      expect(stored).to.not.include('dev-user');
      expect(stored).to.not.include('modgate=');
      const [cookie] = await page.context().cookies();
      expect(cookie).to.include({ name: 'modgate', httpOnly: true, sameSite: 'Strict' });
      expect(cookie).to.include({ path: '/console', expires: -1 });
      await button(page, 'Sign out').click();
      await heading(page, 'Sign in').waitFor();
      expect(await page.context().cookies()).to.deep.equal([]);
      const ended = await callConsole(setup.host, {
        path: '/session',
        cookie: `modgate=${cookie?.value}`,
      });
      expect(ended.status).to.equal(401);
    });

    it('by a token that is not valid says why', async () => {
      const page = await setup.open('/console', { token: null });
      await page.getByLabel('Token').fill('nonsense');
      await button(page, 'Sign in').click();
      await page.getByRole('alert').getByText('the token is not valid').waitFor();
      expect(await page.getByLabel('Token').inputValue()).to.equal('');
    });

    it('needs no storage of the browser', async () => {
      const page = await setup.open('/console', {
        token: null,
        prepare: async (target) => {
          await target.addInitScript(BLOCK_STORAGE);
        },
      });
      await heading(page, 'Sign in').waitFor();
    });

    it('as developer needs one click', async () => {
      const page = await setup.open('/console/calls', { token: null });
      await button(page, 'Sign in as developer').click();
      await heading(page, 'Calls').waitFor();
      await page.getByText('user developer').waitFor();
    });

    it('in another tab takes this one to its page', async () => {
      const page = await setup.open('/console/plugins', { token: null });
      await heading(page, 'Sign in').waitFor();
      await page.evaluate(
        `fetch('/console/api/session', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ token: ${JSON.stringify(OPERATOR)} }),
        })`,
      );
      // What the browser does when a person returns to the tab.
      await page.evaluate("dispatchEvent(new Event('focus'))");
      await heading(page, 'Plugins').waitFor();
    });

    it('is shown with the reason when the session of an open page ends, and returns to that page', async () => {
      const page = await setup.open('/console/plugins');
      await page.getByText('Live', { exact: true }).waitFor();
      const [cookie] = await page.context().cookies();
      const sessionCall = { path: '/session', cookie: `modgate=${cookie?.value}` };
      const { id } = parseJson(await callConsole(setup.host, sessionCall)) as { id: string };
      const headers = [SAME_ORIGIN, ['authorization', `Bearer ${OPS}`] as const];
      await callConsole(setup.host, { method: 'DELETE', path: `/sessions/${id}`, headers });
      await heading(page, 'Sign in').waitFor();
      const reason = page.getByRole('alert').getByText('Your session was revoked');
      await reason.waitFor();
      await page.getByLabel('Token').fill(OPERATOR);
      await button(page, 'Sign in').click();
      await heading(page, 'Plugins').waitFor();
      await button(page, 'Sign out').click();
      await heading(page, 'Sign in').waitFor();
      expect(await reason.count()).to.equal(0);
    });
  });

  describe('a filled form', () => {
    const TEXT = 'good morning';
    const revoke = async (page: Page) => {
      const [cookie] = await page.context().cookies();
      const sessionCall = { path: '/session', cookie: `modgate=${cookie?.value}` };
      const { id } = parseJson(await callConsole(setup.host, sessionCall)) as { id: string };
      const headers = [SAME_ORIGIN, ['authorization', `Bearer ${OPS}`] as const];
      await callConsole(setup.host, { method: 'DELETE', path: `/sessions/${id}`, headers });
      await heading(page, 'Sign in').waitFor();
    };
    const fill = async () => {
      const page = await setup.open('/console/modules/crm?tab=Configuration');
      await page.getByText('Live', { exact: true }).waitFor();
      await page.getByLabel('Value of crm greeting', { exact: true }).fill(TEXT);
      return page;
    };
    const signIn = async (page: Page, token: string) => {
      await page.getByLabel('Token').fill(token);
      await button(page, 'Sign in').click();
      await button(page, 'Sign out').waitFor();
    };

    it('is there again after the same actor has signed in again', async () => {
      const page = await fill();
      await revoke(page);
      expect(await page.getByLabel('Value of crm greeting').isVisible()).to.equal(false);
      const link = page.getByRole('link', { name: /^Sign in with/ });
      expect(await link.getAttribute('target')).to.equal('_blank');
      const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])';
      expect(await page.evaluate(stored)).to.not.include(TEXT);
      await signIn(page, OPERATOR);
      const field = page.getByLabel('Value of crm greeting', { exact: true });
      await field.waitFor();
      expect(await field.inputValue()).to.equal(TEXT);
      await page.getByText('Live', { exact: true }).waitFor();
      expect(await page.title()).to.match(/^crm/);
    });

    it('in a dialog does not keep a person from signing in', async () => {
      const page = await setup.open('/console/modules/crm?tab=Data');
      await page.getByText('Live', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Show', exact: true }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Invoice this contact' }).click();
      await dialog.getByLabel('Customer').fill(TEXT);
      await revoke(page);
      await signIn(page, OPERATOR);
      expect(await dialog.getByLabel('Customer').inputValue()).to.equal(TEXT);
      expect(await page.evaluate("document.querySelector('dialog').matches(':modal')")).to.equal(
        true,
      );
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    });

    it('is gone after another actor has signed in, and after a sign-out', async () => {
      const page = await fill();
      await revoke(page);
      await signIn(page, OPERATOR.replace('dev-user:', 'dev-user:x'));
      expect(await page.content()).to.not.include(TEXT);
      const other = await fill();
      await button(other, 'Sign out').click();
      await heading(other, 'Sign in').waitFor();
      expect(await other.getByLabel('Value of crm greeting').count()).to.equal(0);
    });
  });

  describe('sign-in at an issuer', () => {
    const openSignIn = async (outcome: ConsoleSetup['issuer']['outcome']) => {
      setup.issuer.outcome = outcome;
      const origins = [setup.issuer.issuer];
      const page = await setup.open('/console/modules?state=live', { token: null, origins });
      const authorizations: URL[] = [];
      page.on('request', (request) => authorizations.push(new URL(request.url())));
      await page.getByRole('link', { name: /^Sign in with/ }).click();
      return { page, asked: authorizations };
    };

    it('uses PKCE, state and nonce, and leads back to the page', async () => {
      const { page, asked: authorizations } = await openSignIn('sign-in');
      await heading(page, 'Modules').waitFor();
      expect(new URL(page.url()).search).to.equal('?state=live');
      await page.getByText('user ann').waitFor();
      const asking = authorizations.find(({ pathname }) => pathname === '/auth')?.searchParams;
      const answer = authorizations.find(({ pathname }) =>
        pathname.endsWith('/callback'),
      )?.searchParams;
      expect(asking?.get('response_type')).to.equal('code');
      expect(asking?.get('code_challenge_method')).to.equal('S256');
      expect(asking?.get('nonce')).to.match(/^[\w-]{40,}$/);
      expect(answer?.get('state')).to.equal(asking?.get('state'));
      expect(answer?.get('iss')).to.equal(setup.issuer.issuer);
      const verifier = setup.issuer.exchanges.at(-1)?.get('code_verifier') ?? '';
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      expect(asking?.get('code_challenge')).to.equal(challenge);
      const stored = (await page.evaluate(READ_STORAGE)) as string;
      for (const secret of [verifier, answer?.get('code') ?? '', asking?.get('nonce') ?? '']) {
        expect(stored).to.not.include(secret);
      }
    });

    for (const [outcome, text] of [
      ['cancel', 'The sign-in was denied'],
      ['server-error', 'The sign-in failed'],
      ['other-state', 'The sign-in failed'],
      ['other-nonce', 'The sign-in failed'],
    ] as const) {
      it(`makes no session after the answer '${outcome}', and says so`, async () => {
        const { page } = await openSignIn(outcome);
        await page.getByRole('alert').getByText(text).waitFor();
        await heading(page, 'Sign in').waitFor();
        const cookies = await page.context().cookies(`${setup.host.url}/console/api/oidc/callback`);
        const own = cookies.filter(({ name }) => name.startsWith('modgate'));
        expect(own.map(({ name }) => name)).to.not.include('modgate');
        // An answer with another state belongs to another sign-in.
        expect(own.length).to.equal(outcome === 'other-state' ? 1 : 0);
      });
    }
  });
}
