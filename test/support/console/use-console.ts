import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser, type WatchedPage } from '../browser/browser.js';
import { openHost, type RunningModgate } from '../open-host.js';
import { type ScriptedProvider, startProvider } from '../provider.js';
import { started } from '../started.js';
import { createFolder } from '../temporary-folder.js';
import { use } from '../use.js';
import { OPS, signIn } from './console-client.js';
import { answerShop, describeBilling, describeCrm } from './shop-modules.js';
import {
  AUDIENCE,
  CONSOLE_CLIENT,
  type SignInProvider,
  startSignInProvider,
} from './sign-in-provider.js';

/** An operator of everything, with the scopes of the modules. */
export const OPERATOR = `${OPS},crm.read,crm.write,billing.write`;

const SHOP_ROLES = {
  seller: { description: 'Sells', scopes: ['crm.write'], roles: ['reader'] },
  reader: { scopes: ['crm.read'] },
  accountant: { scopes: ['billing.write'] },
};

/** The timeout for delayed content of a page. */
const PAGE_DEADLINE_MS = 20_000;

type OpenOptions = NonNullable<Parameters<ReturnType<typeof useBrowser>['open']>[1]>;

interface OpenPage extends Omit<OpenOptions, 'cookie'> {
  /** The actor that is signed in, default `OPERATOR`. `null` for none. */
  readonly token?: string | null;
}

/** One browser, one host with an issuer, and one provider for all tests of the pages. */
export interface ConsoleSetup {
  readonly host: RunningModgate;
  readonly provider: ScriptedProvider;
  readonly issuer: SignInProvider;
  /** The output of the host. */
  readonly stateDirectory: string;
  /** Writes a descriptor; `null` removes it. */
  drop(name: string, descriptor: object | null): void;
  /** Ends the host, runs `meanwhile` and starts it again at the same address. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** Opens a page of the console, until the end of the test, which fails if the page violated anything. */
  open(path: string, options?: OpenPage): Promise<Page>;
}

export function useConsole(): ConsoleSetup {
  const browser = useBrowser();
  const directory = createFolder();
  const provider = use(() => startProvider(answerShop));
  const issuer = use(startSignInProvider);
  let host: RunningModgate | undefined;
  const opened: { readonly watched: WatchedPage; readonly key: string | null }[] = [];
  /** Pages without a document, by their options: a new one costs twice the CPU time. */
  const cleared = new Map<string | null, WatchedPage[]>();

  const drop = (name: string, descriptor: object | null) => {
    const file = join(directory, 'modules.d', name);
    if (descriptor === null) rmSync(file);
    else writeFileSync(file, JSON.stringify(descriptor));
  };
  const start = (port: number) =>
    openHost(
      [
        ...['serve', '--env', 'development', '--port', String(port)],
        ...['--config', join(directory, 'modgate.json')],
        ...['--modules', join(directory, 'modules.d'), '--state', join(directory, 'state')],
      ],
      { CONSOLE_SECRET: CONSOLE_CLIENT.secret },
    );

  before(async () => {
    mkdirSync(join(directory, 'modules.d'));
    writeSettings(directory, issuer.issuer);
    drop('crm.json', describeCrm(provider.url));
    drop('billing.json', describeBilling(provider.url));
    host = await start(0);
    issuer.serve(`${host.url}/console/api/oidc/callback`);
  });

  afterEach(async function () {
    const hasFailed = this.currentTest?.state === 'failed';
    for (const { watched, key } of opened.splice(0)) {
      const violations = await watched.violations();
      if (hasFailed) await showPage(watched.page);
      if (hasFailed || key === null) await watched.close();
      else {
        await watched.clear();
        cleared.set(key, [...(cleared.get(key) ?? []), watched]);
      }
      expect(violations).to.deep.equal([]);
    }
  });

  after(async () => {
    const exit = await host?.stop();
    if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  return {
    get host() {
      return started(host);
    },
    provider,
    issuer,
    stateDirectory: join(directory, 'state'),
    drop,
    restart: async (meanwhile) => {
      const { port } = started(host);
      await host?.kill();
      await meanwhile();
      host = await start(port);
    },
    open: async (path, { token = OPERATOR, ...more } = {}) => {
      // A color on its way to another one has no contrast of its own.
      const options = { reducedMotion: 'reduce', ...more } as const;
      const { url } = started(host);
      const cookie = token === null ? null : await signIn(started(host), token);
      const key = more.prepare === undefined ? JSON.stringify(options) : null;
      const kept = cleared.get(key)?.pop();
      await kept?.reopen(url + path, cookie);
      const watched =
        kept ?? (await browser.open(url + path, { ...options, cookie, cookiePath: '/console' }));
      opened.push({ watched, key });
      watched.page.setDefaultTimeout(PAGE_DEADLINE_MS);
      return watched.page;
    },
  };
}

/** Returns to the page, which a failed test may have left. */
async function showPage(page: Page): Promise<void> {
  const text = (await page.evaluate('document.body.innerText')) as string;
  console.log(`${page.url()}\n${text.slice(0, 2000)}`);
}

/** Waits until everything that the page reads has arrived. */
export async function untilLoaded(page: Page): Promise<void> {
  const loading = page.getByText(/^Loading/).first();
  do await loading.waitFor({ state: 'detached' });
  while ((await loading.count()) > 0);
}

function writeSettings(directory: string, issuer: string): void {
  const trusted = {
    ...{ issuer, audience: AUDIENCE, algorithms: ['RS256'], jwks: { url: `${issuer}/jwks` } },
    actor: { kind: 'user', id: 'sub' },
  };
  const client = {
    ...{ issuer, client_id: CONSOLE_CLIENT.id, client_secret: 'env:CONSOLE_SECRET' },
    ...{ scopes: ['openid', 'modgate.modules.read'], resource: AUDIENCE },
  };
  const issuers = join(directory, 'issuers.json');
  writeFileSync(issuers, JSON.stringify({ issuers: [trusted] }));
  const roles = join(directory, 'roles.json');
  writeFileSync(roles, JSON.stringify({ roles: SHOP_ROLES }));
  const settings = {
    issuers,
    roles,
    surfaces: { mcp: { enabled: true }, console: { oidc: [client] } },
  };
  writeFileSync(join(directory, 'modgate.json'), JSON.stringify(settings));
}
