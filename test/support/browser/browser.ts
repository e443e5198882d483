import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { started } from '../started.js';

/**
 * Names of Debian's packages. The first has no windows and takes less than half of the CPU time.
 */
const EXECUTABLES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const EXECUTABLE = process.env['MODGATE_TEST_BROWSER'] ?? EXECUTABLES.find(existsSync);

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page, and what it did that it must not do. */
export interface WatchedPage {
  readonly page: Page;
  /**
   * Lists the violations of every document that the page has shown: of its content security policy,
   * errors of scripts, dialogs, other windows, downloads, and requests to other origins.
   */
  violations(): Promise<readonly string[]>;
  /** Ends its document and what that has stored. Its process and its cache remain. */
  clear(): Promise<void>;
  /** Loads a document of the same origin after `clear`. */
  reopen(url: string, cookie: string | null): Promise<void>;
  close(): Promise<void>;
}

interface OpenOptions extends BrowserContextOptions {
  /** `name=value` of the host of the page. */
  readonly cookie?: string | null;
  /** Default `/`. */
  readonly cookiePath?: string;
  /** Other origins that the page may visit. */
  readonly origins?: readonly string[];
  /** Called before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<void>;
}

interface UsedBrowser {
  /** Opens a page in a profile of its own. */
  open(url: string, options?: OpenOptions): Promise<WatchedPage>;
}

/**
 * Starts one browser for all tests of a `describe`, which are skipped where there is none. In CI its absence
 * is a failure.
 */
export function useBrowser(): UsedBrowser {
  let browser: Browser | undefined;

  before(async function () {
    if (EXECUTABLE === undefined || !existsSync(EXECUTABLE)) {
      const message = 'needs a browser: apt-get install chromium-headless-shell';
      if (process.env['CI'] === 'true') throw new Error(message);
      console.log(`      skipped: ${message}`);
      this.skip();
    }
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
  });

  after(() => browser?.close());

  return {
    open: async (
      url,
      { cookie = null, cookiePath = '/', origins = [], prepare, ...options } = {},
    ) => {
      const context = await started(browser).newContext(options);
      const collected: string[] = [];
      await watchContext(context, [new URL(url).origin, ...origins], collected);
      const page = await context.newPage();
      const load = async (target: string, sent: string | null) => {
        if (sent !== null) {
          const [name = '', value = ''] = sent.split('=');
          const { hostname: domain } = new URL(target);
          const attributes = { path: cookiePath, httpOnly: true, sameSite: 'Strict' } as const;
          await context.addCookies([{ name, value, domain, ...attributes }]);
        }
        await page.goto(target);
      };
      await prepare?.(page);
      await load(url, cookie);
      return {
        page,
        violations: async () => {
          // What the page has reported so far arrives before this.
          await page.evaluate('0');
          return [...collected];
        },
        clear: async () => {
          await page.unrouteAll();
          await page.mouse.move(0, 0);
          await page.evaluate('localStorage.clear(); sessionStorage.clear()');
          // Another origin would get another process.
          await page.goto(new URL('/favicon.ico', url).href);
          await context.clearCookies();
          collected.length = 0;
        },
        reopen: load,
        close: () => context.close(),
      };
    },
  };
}

async function watchContext(
  context: BrowserContext,
  origins: readonly string[],
  violations: string[],
): Promise<void> {
  await context.exposeBinding('reportViolation', (_source, text: string) => {
    violations.push(text);
  });
  await context.addInitScript(REPORT_VIOLATIONS);
  context.on('request', (request) => {
    const url = request.url();
    if (url.startsWith('data:') || isOf(origins, url)) return;
    violations.push(`request to ${url}`);
  });
  context.on('weberror', (error) => violations.push(`error: ${error.error().message}`));
  context.on('dialog', (dialog) => {
    violations.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('page', (page) => {
    page.on('popup', (other) => violations.push(`window: ${other.url()}`));
    page.on('download', (download) => violations.push(`download: ${download.url()}`));
  });
}

const REPORT_VIOLATIONS = `
  addEventListener('securitypolicyviolation', (event) => {
    reportViolation('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
  });
`;

function isOf(origins: readonly string[], url: string): boolean {
  return URL.canParse(url) && origins.includes(new URL(url).origin);
}
