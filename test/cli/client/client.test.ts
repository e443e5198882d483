import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startFakeHost } from '../../support/cli/fake-host.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { useHost } from '../../support/http/use-host.js';
import { compile, createClientPlace, importTypeScript } from '../../support/typescript/compile.js';
import { describeShop } from '../../support/typescript/shop.js';
import { use } from '../../support/use.js';

const TOKEN = 'dev-service:ann:shop.read,shop.write';

/** Results in the order of the calls; `run` is called with the URL of the host. */
const USE = `
import { createClient } from 'modgate/client';
import type { paths } from './client.js';

const ITEM = '/modules/acme%2Fshop/http/items/{id}';
const ITEMS = '/modules/acme%2Fshop/http/items';

export async function run(url: string): Promise<unknown[]> {
  const shop = createClient<paths>({ url, token: '${TOKEN}' });
  const item = await shop.GET(ITEM, { params: { path: { id: 'a b' } } });
  const header = { 'idempotency-key': 'mine' };
  const added = await shop.POST(ITEMS, { params: { header }, body: { name: 'tea' } });
  const ids: string[] = [];
  for await (const { data } of shop.pages(ITEMS, { params: { query: { limit: 1 } } })) {
    ids.push(...(data?.records.map(({ id }) => id) ?? []));
  }
  const path = '/modules/acme%2Fshop/http/files/{path...}';
  await shop.GET(path, { params: { path: { path: 'a b/c' } } });
  const other = createClient<paths>({ url, token: () => 'dev-service:bob' });
  const { error, response } = await other.GET(ITEM, { params: { path: { id: '1' } } });
  return [
    item.error === undefined && item.data.name,
    added.data?.id,
    ids,
    error?.code === 'forbidden' && error.detail,
    response.headers.get('modgate-origin'),
  ];
}

export async function reject(): Promise<string> {
  const shop = createClient<paths>({ url: '' });
  // @ts-expect-error the route requires a key
  await shop.POST(ITEMS, { body: { name: 'tea' } });
  // @ts-expect-error the body has a name
  await shop.POST(ITEMS, { params: { header: { 'idempotency-key': '1' } }, body: {} });
  // @ts-expect-error there is no such route
  await shop.GET('/modules/acme%2Fshop/http/nowhere');
  // @ts-expect-error the route has no pages
  shop.pages(ITEM, { params: { path: { id: '1' } } });
  const { data, error } = await shop.GET(ITEM, { params: { path: { id: '1' } } });
  // @ts-expect-error the call may have failed
  data.name.trim();
  if (error === undefined) return data.parent?.name ?? '';
  switch (error.code) {
    case 'not_found':
      return String(error.status satisfies 404);
    case 'unexpected_answer':
      return String(error.body);
    case 'validation_failed':
    case 'unauthorized':
    case 'forbidden':
    case 'internal_error':
    case 'external_dependency_failure':
    case 'unavailable':
      return error.errors.map(({ reason }) => reason).join();
    default:
      return error satisfies never;
  }
}
`;

describe('modgate client', () => {
  const setup = useHost(describeShop);

  const place = use(createClientPlace);

  const run = (...args: string[]) =>
    place.run(['client', '--url', setup.host.url, '--token', TOKEN, ...args]);

  it('writes types that compile, for calls of the host', async () => {
    const { code, stdout, stderr } = await run('acme/shop', '--out', 'client.ts');
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: 'wrote client.ts: 1 module, 4 routes\n',
      stderr: '',
    });
    const use = place.write('use.ts', USE);
    expect(compile([use], { lib: ['es2022', 'dom'], types: [] })).to.deep.equal([]);
    const { run: call } = await importTypeScript(use);
    setup.provider.answer({
      body: '{"id":"1","name":"tea","records":[{"id":"x"}],"next_cursor":null}',
    });
    const detail = 'a declared capability is required';
    expect(await call(setup.host.url)).to.deep.equal(['tea', '1', ['x'], detail, 'host']);
    const [read, added, , file] = setup.provider.requests;
    expect(read?.target).to.equal('/items/a%20b');
    expect(added?.headers.find(([name]) => name === 'idempotency-key')?.[1]).to.equal('mine');
    expect(file?.target).to.equal('/files/a%20b/c');
  });

  it('prints what it wrote or compared as JSON with --json', async () => {
    const wrote = await run('--out', 'made.ts', '--json');
    const counts = { modules: 1, routes: 4 };
    expect(JSON.parse(wrote.stdout)).to.deep.equal({ file: 'made.ts', ...counts });
    const checked = await run('--out', 'made.ts', '--check', '--json');
    const equal = { file: 'made.ts', ...counts, up_to_date: true };
    expect([checked.code, JSON.parse(checked.stdout)]).to.deep.equal([0, equal]);
    const none = await run('--out', 'none.ts', '--check', '--json');
    const missing = { file: 'none.ts', ...counts, up_to_date: false };
    expect([none.code, JSON.parse(none.stdout)]).to.deep.equal([1, missing]);
  });

  it('compares the file below its header with --check', async () => {
    await run('--out', 'all.ts');
    expect((await run('--out', 'all.ts', '--check')).code).to.equal(0);
    const text = readFileSync(join(place.folder, 'all.ts'), 'utf8');
    expect(text).to.match(/^\/\/ Types of [^\n]+\n\/\/ Modules: acme\/shop\n\/\/ Digest: sha256:/);
    place.write('all.ts', text.replace(/Digest: .*/, 'Digest: sha256:other'));
    expect((await run('--out', 'all.ts', '--check')).code).to.equal(0);
    place.write('all.ts', text.replace('getItem', 'readItem'));
    const { code, stdout } = await run('--out', 'all.ts', '--check');
    expect([code, stdout]).to.deep.equal([1, 'all.ts differs: run modgate client again\n']);
    expect((await run('--out', 'none.ts', '--check')).code).to.equal(1);
  });

  it('reports a module that the host does not serve', async () => {
    const { code, stderr } = await run('missing', '--out', 'missing.ts');
    expect(code).to.equal(1);
    expect(stderr).to.match(/^modgate: [^\n]+\n$/);
  });

  it('reports a response that is not an OpenAPI document in one line', async () => {
    const deep = `{"openapi":"3.1.0","paths":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_001)}`;
    for (const body of ['<html>', '{}', '{"openapi":"2.0","paths":{}}', deep]) {
      const host = await startFakeHost(() => ({ body }));
      const { code, stderr } = await run('--url', host.url, '--out', 'fake.ts');
      await host.close();
      expect([code, stderr]).to.deep.equal([
        1,
        `modgate: ${host.url} is not a modgate host: unexpected response\n`,
      ]);
    }
  });

  it('writes from files what it writes from the host', async () => {
    const files = describeShop(setup.provider);
    place.write('modules.d/shop.json', files['shop.json'] ?? {});
    const { code, stderr } = await place.run([
      ...['client', '--modules', 'modules.d', '--out', 'src/made/files.ts'],
    ]);
    expect(code, stderr).to.equal(0);
    expect((await run('--out', 'src/made/files.ts', '--check')).code).to.equal(0);
  });

  it('exits with 2 and the command that installs openapi-typescript where it is missing', async () => {
    const install = 'npm install --save-dev openapi-typescript typescript@5';
    const other = createWorkplace();
    const args = ['client', '--url', setup.host.url, '--token', TOKEN, '--out'];
    const { code, stderr } = await other.run([...args, 'types.ts']);
    expect([code, stderr]).to.deep.equal([
      2,
      `modgate: openapi-typescript is not installed in this project: ${install}\n`,
    ]);
    // The folder of the file is searched as well.
    expect((await other.run([...args, join(place.folder, 'other.ts')])).code).to.equal(0);
  });

  it('says that openapi-typescript needs TypeScript 5 where it cannot be loaded', async () => {
    const other = createWorkplace();
    other.write('node_modules/openapi-typescript/index.js', 'undefined.factory()');
    const args = ['client', '--url', setup.host.url, '--token', TOKEN, '--out', 'types.ts'];
    const { code, stderr } = await other.run(args);
    expect([code, stderr]).to.deep.equal([
      2,
      'modgate: openapi-typescript cannot be loaded; with TypeScript 5: ' +
        'npm install --save-dev openapi-typescript typescript@5\n',
    ]);
  });
});
