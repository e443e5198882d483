// Takes screenshots of the console with the examples of modules.d, in both themes. Needs a build and Chromium.
//   node tools/screenshots.mjs                   the pictures of docs/images; takes five minutes
//   node tools/screenshots.mjs --review FOLDER   every page in full, 1280 and 360 px wide
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const EXECUTABLE = process.env.MODGATE_TEST_BROWSER ?? '/usr/bin/chromium';

const DOCS = {
  console: '/console',
  'console-data': '/console/modules/shop?tab=Data',
  'console-actions': '/console/modules/shop?tab=Actions&action=cancel_open',
  'console-configuration': '/console/modules/shop?tab=Configuration',
  'console-explain': '/console/explain?method=GET&target=/modules/shop/http/orders',
};
const REVIEW = {
  ...DOCS,
  modules: '/console/modules',
  calls: '/console/calls',
  ...Object.fromEntries(
    ['Routes', 'Endpoints', 'Actions', 'Manifest', 'Descriptor', 'Grants'].map((tab) => [
      `shop-${tab.toLowerCase()}`,
      `/console/modules/shop?tab=${tab}`,
    ]),
  ),
  'notes-data': '/console/modules/notes?tab=Data',
  audit: '/console/audit',
  api: '/console/api',
  plugins: '/console/plugins',
  missing: '/console/nothing',
};

const isReview = process.argv[2] === '--review';
const folder = isReview ? process.argv[3] : 'docs/images';
const trafficMs = isReview ? 25_000 : 300_000;
mkdirSync(folder, { recursive: true });
const state = mkdtempSync(join(tmpdir(), 'modgate-screenshots-'));
const host = spawn(
  process.execPath,
  ['dist/core/main.js', 'serve', '--env', 'development', '--port', '0', '--state', state],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
try {
  const url = await readUrl(host.stdout);
  await makeCalls(url);
  for (const colorScheme of ['light', 'dark']) {
    for (const width of isReview ? [1280, 360] : [1100]) {
      await takeAll(url, colorScheme, width);
    }
  }
} finally {
  await browser.close();
  host.kill('SIGTERM');
  await new Promise((resolve) => host.on('exit', resolve));
  rmSync(state, { recursive: true, force: true });
}

async function takeAll(url, colorScheme, width) {
  const viewport = { width, height: isReview ? 900 : 700 };
  const context = await browser.newContext({ viewport, colorScheme, locale: 'en-GB' });
  const page = await context.newPage();
  const take = (name) => {
    const suffix = `${isReview ? `-${width}` : ''}-${colorScheme}`;
    return page.screenshot({ path: join(folder, `${name}${suffix}.png`), fullPage: isReview });
  };
  await page.goto(`${url}/console`);
  const developer = page.getByRole('button', { name: 'Sign in as developer' });
  await developer.waitFor();
  if (isReview) await take('sign-in');
  await developer.click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  for (const [name, path] of Object.entries(isReview ? REVIEW : DOCS)) {
    await page.goto(url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    await page.waitForTimeout(300);
    await open(page, name);
    await take(name);
  }
  await context.close();
}

/** The additional content of a picture. */
async function open(page, name) {
  if (name === 'console-data') {
    await page.getByRole('button', { name: 'Show', exact: true }).nth(1).click();
    await page.getByRole('button', { name: 'Write a note about this order' }).click();
    await page.getByLabel('Title').waitFor();
  }
  if (name === 'console-explain') {
    await page.getByLabel('As whom').fill('dev-service:job');
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('Step by step').waitFor();
  }
  if (name === 'calls') await page.locator('tbody button').first().click();
  if (name === 'audit') {
    await page.getByRole('button', { name: 'Verify chain' }).click();
    await page.getByText(/form one chain/).waitFor();
  }
}

/** Calls at a changing rate, so that the charts have lines. */
async function makeCalls(url) {
  const send = (path, init = {}) =>
    fetch(`${url}/modules/${path}`, {
      ...init,
      headers: {
        authorization: 'Bearer dev-service:till:notes.read,notes.write,shop.read,shop.orders.write',
        'content-type': 'application/json',
      },
    }).then((response) => response.text());
  const note = JSON.stringify({ title: 'Call Ada back', text: 'About the lamps.' });
  await send('notes/http/notes', { method: 'POST', body: note });
  const end = Date.now() + trafficMs;
  for (let i = 0; Date.now() < end; i += 1) {
    const count = Math.round(3 + 2.5 * Math.sin(i / 40));
    const calls = Array.from({ length: count }, () => 'shop/http/orders?status=open');
    if (i % 3 === 0) calls.push('notes/http/notes', 'shop/http/products');
    if (i % 9 > 5) calls.push('shop/http/orders/9999', `shop/http/orders/${300 + (i % 60)}`);
    await Promise.all(calls.map((path) => send(path)));
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
}

function readUrl(stdout) {
  return new Promise((resolve, reject) => {
    let text = '';
    stdout.on('data', (bytes) => {
      text += bytes;
      const found = /"url":"(http:[^"]+)","msg":"listening"/.exec(text);
      if (found) resolve(found[1]);
    });
    stdout.on('end', () => reject(new Error(`the host did not start: ${text}`)));
  });
}
