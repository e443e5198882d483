import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Debian's package `chromium`. */
const EXECUTABLE = process.env['MODGATE_TEST_BROWSER'] ?? '/usr/bin/chromium';

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
  /** Requests to another origin than that of the host. */
  readonly outsideRequests: readonly string[];
  /** Violations of the content security policy, and errors of scripts. */
  violations(): Promise<readonly string[]>;
  close(): Promise<void>;
}

interface UsedBrowser {
  /** Opens a page in a profile of its own. */
  open(url: string, options?: BrowserContextOptions): Promise<WatchedPage>;
}

/**
 * Starts one browser for all tests of a `describe`, which are skipped where there is none. In CI its absence
 * is a failure.
 */
export function useBrowser(): UsedBrowser {
  let browser: Browser | undefined;

  before(async function () {
    if (!existsSync(EXECUTABLE)) {
      const message = `needs a browser at ${EXECUTABLE}: apt-get install chromium`;
      if (process.env['CI'] === 'true') throw new Error(message);
      console.log(`      ${message}`);
      this.skip();
    }
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS });
  });

  after(() => browser?.close());

  return {
    open: async (url, options) => {
      if (browser === undefined) throw new Error('used before it was started');
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const outsideRequests: string[] = [];
      const errors: string[] = [];
      page.on('request', (request) => {
        const isOwn = request.url().startsWith('data:') || isSameOrigin(request.url(), url);
        if (!isOwn) outsideRequests.push(request.url());
      });
      page.on('pageerror', (error) => errors.push(error.message));
      await page.addInitScript(RECORD_VIOLATIONS);
      await page.goto(url);
      return {
        page,
        outsideRequests,
        violations: async () => [...errors, ...((await page.evaluate('violations')) as string[])],
        close: () => context.close(),
      };
    },
  };
}

const RECORD_VIOLATIONS = `
  window.violations = [];
  addEventListener('securitypolicyviolation', (event) => {
    violations.push(event.violatedDirective + ' ' + event.blockedURI);
  });
`;

function isSameOrigin(url: string, other: string): boolean {
  return URL.canParse(url) && new URL(url).origin === new URL(other).origin;
}
