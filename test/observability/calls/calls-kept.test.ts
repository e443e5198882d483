import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startEchoProvider } from '../../support/echo-provider.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

interface Page {
  readonly calls: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
}

const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
];

describe('--keep-calls', () => {
  let host: RunningHost;
  let state: string;

  const provider = use(startEchoProvider);

  beforeEach(() => {
    provider.reset();
    state = createFolder();
  });

  afterEach(async () => {
    await host.stop();
  });

  const start = async (...args: string[]) => {
    const spied = { records: { capture_bytes: 1000 } };
    host = await startHost({
      files: {
        'shop.json': describeModule('shop', provider.url, ROUTES),
        'spy.json': describeModule('spy', provider.url, ROUTES, spied),
      },
      args: ['--state', state, ...args],
    });
  };
  const request = (on: { readonly port: number }, id: string) =>
    call(on, { target: '/modules/shop/http/items/1', headers: [['x-request-id', id]] });
  const list = async (on: { readonly port: number }, query = '') =>
    parseJson(await call(on, { target: `/calls${query}` })) as unknown as Page;
  const idsOf = ({ calls }: Page) => calls.map((record) => record['request_id']);
  const stateFiles = () => readdirSync(state, { recursive: true });

  it('is off by default: no calls are on disk', async () => {
    await start();
    await request(host, 'canary-call');
    expect(idsOf(await list(host))).to.deep.equal(['canary-call']);
    const isStore = (name: unknown) => String(name).startsWith('modgate.db');
    expect(stateFiles().filter(isStore)).to.deep.equal([]);
  });

  it('keeps calls over a restart, in one order with new ones', async () => {
    await start('--keep-calls', '1000');
    for (const id of ['a', 'b', 'c']) await request(host, id);
    await call(host, { target: '/modules/none/http/x', headers: [['x-request-id', 'd']] });
    const listed = await list(host);
    expect(idsOf(listed)).to.deep.equal(['d', 'c', 'b', 'a']);
    await request(host, 'last');
    await host.stop();
    await start('--keep-calls', '1000');
    await request(host, 'new');
    const all = await list(host);
    expect(idsOf(all)).to.deep.equal(['new', 'last', 'd', 'c', 'b', 'a']);
    expect(all.calls.slice(2)).to.deep.equal(listed.calls);
    expect(idsOf(await list(host, '?status=404'))).to.deep.equal(['d']);
    const since = encodeURIComponent(String(all.calls[1]?.['at']));
    expect(idsOf(await list(host, `?module=shop&since=${since}`))).to.include('new');
    const pages: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await list(host, `?limit=4${cursor && `&cursor=${cursor}`}`);
      pages.push(...idsOf(page));
      cursor = page.next_cursor;
    }
    expect(pages).to.deep.equal(idsOf(all));
  });

  it('keeps at most the configured number', async () => {
    await start('--keep-calls', '20');
    for (let number = 0; number < 230; number += 1) await request(host, `n${number}`);
    await waitUntil(
      'the oldest to go',
      async () => (await list(host, '?limit=1000')).calls.length < 130,
    );
    const { calls } = await list(host, '?limit=1000');
    expect(calls.length).to.be.at.least(20);
    expect(calls[0]).to.include({ request_id: 'n229' });
  });

  it('never stores captured bodies, and shows them while they are in memory', async () => {
    await start('--keep-calls', '1000');
    provider.answer({ body: '{"text":"canary-response"}' });
    await call(host, {
      method: 'POST',
      target: '/modules/spy/http/items',
      headers: [JSON_TYPE],
      body: Buffer.from('{"text":"canary-body"}'),
    });
    const [listed] = (await list(host)).calls;
    expect(listed).to.include({
      request_body: '{"text":"canary-body"}',
      response_body: '{"text":"canary-response"}',
    });
    const files = stateFiles()
      .map((name) => join(state, String(name)))
      .filter((file) => file.includes('modgate.db'));
    expect(files).to.not.have.length(0);
    const read = () => files.map((file) => readFileSync(file, 'latin1')).join('');
    await waitUntil('the stored call', () => read().includes('/items'));
    expect(read()).to.not.match(/canary-(?:body|response)/);
  });

  it('does not delay requests while the store is unavailable', async () => {
    await start('--keep-calls', '1000', '--store', 'postgres://unknown@127.0.0.1:1/none');
    expect((await request(host, 'one')).status).to.equal(200);
    expect(idsOf(await list(host))).to.deep.equal(['one']);
    const lost = await call(host, { target: `/calls?cursor=${'0'.repeat(30)}` });
    expectProblem(lost, 503);
    expectProblem(await call(host, { target: '/calls?cursor=nonsense' }), 400);
  });
});
