import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { useBrowser, type WatchedPage } from '../../support/browser/browser.js';
import { findAccessibilityViolations } from '../../support/browser/find-violations.js';
import type { EchoProvider } from '../../support/echo-provider.js';
import { useHost } from '../../support/http/use-host.js';

const ROUTES = [
  {
    method: 'GET',
    path: '/items/{id}',
    capability: 'shop.read',
    summary: 'Read an item',
    operation: {
      operation_id: 'getItem',
      query_schema: {
        type: 'object',
        properties: { limit: { type: 'integer', minimum: 1, default: 20 } },
      },
      parameters: [
        { name: 'filter', in: 'query', style: 'deepObject', schema: { type: 'object' } },
        { name: 'form', in: 'query', schema: { type: 'object' } },
        { name: 'prefer', in: 'header', schema: { type: 'string' } },
      ],
      output_schema: {
        type: 'object',
        properties: { id: { type: 'string', description: 'Its number' } },
      },
    },
  },
  {
    method: 'POST',
    path: '/items',
    capability: 'shop.write',
    summary: 'Add <b>an</b> item',
    operation: {
      input_schema: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          color: { $ref: 'manifest:schemas/Color', default: 'red' },
        },
      },
      examples: [{ name: 'tea', input: { name: 'tea', price: 1 }, output: { id: '1' } }],
    },
  },
];

const KEY = 'key-of-the-shop';

describe('the docs page', () => {
  const browser = useBrowser();
  const createFiles = (provider: EchoProvider) => ({
    'shop.json': {
      module: 'shop',
      provider: { kind: 'http', config: { endpoints: [provider.url] } },
      manifest: {
        inline: {
          protocol: 'modgate.manifest.v1',
          module_id: 'shop',
          capabilities: ['shop.read', 'shop.write'],
          http_routes: ROUTES,
          schemas: { Color: { type: 'string', enum: ['red', 'blue'] } },
        },
      },
    },
  });
  const sha256 = createHash('sha256').update(KEY).digest('hex');
  const setup = useHost(createFiles, {
    args: ['--token-header', 'x-api-key'],
    tokens: { tokens: [{ id: 'key', kind: 'service', scopes: ['shop.write'], sha256 }] },
  });
  let watched: WatchedPage;

  const open = async (options?: object) => {
    watched = await browser.open(`${setup.host.url}/docs`, options);
    return watched.page;
  };
  const signIn = async (page: Page, token: string) => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Show' }).click();
  };
  const readOperation = async (page: Page, text: string) => {
    await page.locator('.operation > summary', { hasText: text }).click();
    return page.locator('.operation[open]');
  };

  afterEach(async () => {
    expect(await watched.violations()).to.deep.equal([]);
    await watched.close();
  });

  it('shows the routes of every module to a caller with a token, under the strict policy', async () => {
    const page = await open();
    await signIn(page, 'dev-service:ann:shop.read');
    await page.getByText('1 module, 2 routes').waitFor();
    const operation = await readOperation(page, '/items/{id}');
    await operation.getByText('Needs shop.read').waitFor();
    expect(await operation.locator('table').innerText()).to.match(/limit\s+query\s+integer/);
    expect(await operation.innerText()).to.include('200');
  });

  it('shows bounds and defaults of parameters, and the values of shared schemas', async () => {
    const page = await open();
    await signIn(page, 'dev-service:ann:shop.read');
    const read = await readOperation(page, '/items/{id}');
    expect(await read.locator('table').innerText()).to.include('minimum 1, default 20');
    await page.locator('.operation > summary', { hasText: '/items/{id}' }).click();
    const add = await readOperation(page, 'POST');
    await add.getByText('"red" | "blue", default "red"').waitFor();
  });

  it('shows texts of manifests as texts', async () => {
    const page = await open();
    await signIn(page, 'dev-service:ann');
    await page.getByText('Add <b>an</b> item').waitFor();
  });

  it('sends a request with the token and shows the response', async () => {
    const page = await open();
    await signIn(page, 'dev-service:ann:shop.write');
    const operation = await readOperation(page, 'POST');
    expect(await operation.getByLabel('Body').inputValue()).to.include('"price": 1');
    await operation.getByRole('button', { name: 'Send' }).click();
    const response = operation.locator('.response');
    await response.getByText(/^200 in \d+ ms$/).waitFor();
    expect(await response.innerText()).to.include('"module_name": "shop"');
    expect(setup.provider.requests.at(-1)).to.deep.include({ method: 'POST' });
  });

  it('sends objects in the style of their parameter, and headers', async () => {
    const page = await open();
    await signIn(page, 'dev-service:ann:shop.read');
    const operation = await readOperation(page, '/items/{id}');
    expect(await operation.locator('table').innerText()).to.match(/filter\s+query\s+object/);
    await operation.getByLabel('id (path)').fill('1');
    await operation.getByLabel('filter (query)').fill('{"a": "x", "b": [1, 2]}');
    await operation.getByLabel('form (query)').fill('{"c": true}');
    await operation.getByLabel('prefer (header)').fill('wait=1');
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation
      .locator('.response')
      .getByText(/^200 in \d+ ms$/)
      .waitFor();
    const { target, headers } = setup.provider.requests.at(-1) ?? {};
    expect(target).to.equal('/items/1?filter%5Ba%5D=x&filter%5Bb%5D=1&filter%5Bb%5D=2&c=true');
    expect(headers).to.deep.include(['prefer', 'wait=1']);
  });

  it('sends the token in the header that is named', async () => {
    const page = await open();
    await page.getByLabel('Header').fill('x-api-key');
    await signIn(page, KEY);
    const operation = await readOperation(page, 'POST');
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation
      .locator('.response')
      .getByText(/^200 in \d+ ms$/)
      .waitFor();
  });

  it('shows the Problem of a rejected request, and does not send a path of another route', async () => {
    const page = await open();
    await signIn(page, 'dev-service:ann');
    const operation = await readOperation(page, '/items/{id}');
    const response = operation.locator('.response');
    await operation.getByLabel('id (path)').fill('7');
    await operation.getByRole('button', { name: 'Send' }).click();
    await response.getByText(/^403 Forbidden in/).waitFor();
    await operation.getByLabel('id (path)').fill('..');
    await operation.getByRole('button', { name: 'Send' }).click();
    await response.getByText(/no response: a path parameter must have/).waitFor();
  });

  it('explains why a token was rejected, and forgets it with the page', async () => {
    const page = await open();
    await signIn(page, 'nonsense');
    await page.getByText('could not be loaded: the credentials are not valid').waitFor();
    await page.reload();
    expect(await page.getByLabel('Token').inputValue()).to.equal('');
    expect(
      await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]'),
    ).to.deep.equal([0, 0, '']);
  });

  it('meets WCAG 2.2 AA in light and dark, and fits 360 px', async () => {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open({ colorScheme, viewport: { width: 360, height: 640 } });
      await signIn(page, 'dev-service:ann');
      await readOperation(page, '/items/{id}');
      expect(await findAccessibilityViolations(page), colorScheme).to.deep.equal([]);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).to.be.at.most(360);
      if (colorScheme === 'light') await watched.close();
    }
  });
});
