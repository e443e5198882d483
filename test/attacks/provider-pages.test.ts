import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { useBrowser } from '../support/browser/browser.js';
import { describeModule } from '../support/http/modules.js';
import { useScriptedProvider } from '../support/http/use-scripted-provider.js';
import { waitUntil } from '../support/http/wait-until.js';

/** Each script asks for its path, which no other page does. */
const PAGES: readonly (readonly [path: string, type: string, body: string])[] = [
  ['html', 'text/html', '<!doctype html><script>fetch("/ran/html")</script>'],
  [
    'svg',
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("/ran/svg")</script></svg>',
  ],
  [
    'xhtml',
    'application/xhtml+xml',
    '<html xmlns="http://www.w3.org/1999/xhtml"><script>fetch("/ran/xhtml")</script></html>',
  ],
  ['two', 'text/plain, text/html', '<!doctype html><script>fetch("/ran/two")</script>'],
  ['none', '', '<!doctype html><script>fetch("/ran/none")</script>'],
];
const ROUTES = [
  {
    method: 'GET',
    path: '/pages/{name}',
    capability: 'use',
    access: 'public',
    operation: { response: 'bytes' },
  },
];

describe('a page of a provider', () => {
  const browser = useBrowser();
  const setup = useScriptedProvider((url) => ({
    'raw.json': describeModule('raw', url, ROUTES, { public: true, responses: { mode: 'raw' } }),
    'plain.json': describeModule('plain', url, ROUTES, { public: true, mount: [{ path: '/own' }] }),
  }));
  before(() => {
    setup.answer((request, response) => {
      const page = PAGES.find(([name]) => request.url === `/pages/${name}`);
      if (page === undefined) return void response.writeHead(404).end();
      const [, type, body] = page;
      response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body);
    });
  });

  /** Opens the page through a proxy. @returns whether its script has run */
  async function runs(path: string, { weaken }: { readonly weaken: boolean }): Promise<boolean> {
    const paths: string[] = [];
    const proxy = createServer((request, response) => {
      paths.push(request.url ?? '');
      const sent = { host: '127.0.0.1', port: setup.host.port, path: request.url };
      forward(sent, (received) => {
        const headers = Object.entries(received.headers).filter(
          ([name]) => !weaken || !/^(?:content-security-policy|x-content-type-options)$/.test(name),
        );
        response.writeHead(received.statusCode ?? 500, Object.fromEntries(headers));
        received.pipe(response);
      }).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const opened = await browser.open(`${url}/livez`);
    try {
      await opened.page.goto(`${url}${path}`, { waitUntil: 'load' });
      const hasRun = () => paths.some((seen) => seen.startsWith('/ran/'));
      if (weaken) await waitUntil('the script runs', hasRun);
      // A script of the page that runs has asked before the next page is asked for.
      else await opened.page.goto(`${url}/readyz`);
      return hasRun();
    } finally {
      await opened.close();
      proxy.closeAllConnections();
      proxy.close();
    }
  }

  for (const base of ['/modules/raw/http', '/modules/plain/http', '/own']) {
    it(`runs no script on the origin of the host, below ${base}`, async () => {
      for (const [name] of PAGES) {
        expect(await runs(`${base}/pages/${name}`, { weaken: false }), name).to.equal(false);
      }
    });
  }

  it('runs its script where a host sends no policy', async () => {
    expect(await runs('/modules/raw/http/pages/html', { weaken: true })).to.equal(true);
    expect(await runs('/own/pages/svg', { weaken: true })).to.equal(true);
    expect(await runs('/own/pages/two', { weaken: true })).to.equal(true);
  });
});
