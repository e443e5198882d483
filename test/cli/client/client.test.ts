import { readFileSync, symlinkSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { startFakeHost } from '../../support/cli/fake-host.js';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';
import { useHost } from '../../support/http/use-host.js';
import { compile, toModuleUrl } from '../../support/typescript/compile.js';
import { generateOtherTypes, OTHER_CLIENT } from '../../support/typescript/other-generator.js';
import { describeShop } from '../../support/typescript/shop.js';

const TOKEN = 'dev-service:ann:shop.read,shop.write';

/** Results in the order of the calls; \`run\` is called with the URL of the host. */
const USE = `
import { createClient } from './client.js';

export async function run(url: string): Promise<unknown[]> {
  const client = createClient({ url, token: '${TOKEN}' });
  const shop = client.acmeShop;
  const item = await shop.getItem({ id: 'a b' });
  const added = await shop.addItem({ body: { name: 'tea' } }, { idempotencyKey: 'mine' });
  const ids: string[] = [];
  for await (const page of shop.listItemsPages({ limit: 1 })) {
    if (page.ok) ids.push(...page.data.records.map(({ id }) => id));
  }
  const rejected = await createClient({ url, token: 'dev-service:bob' }).acmeShop.getItem({ id: '1' });
  const problem = rejected.ok ? null : rejected.error.code === 'forbidden' && rejected.error.detail;
  return [item.ok && item.data.name, added.ok && added.data.id, ids, problem];
}
`;

describe('modgate client', () => {
  const setup = useHost(describeShop);
  let place: Workplace;

  before(() => {
    place = createWorkplace();
  });

  after(() => place.remove());

  const run = (...args: string[]) =>
    place.run(['client', '--url', setup.host.url, '--token', TOKEN, ...args]);

  it('writes a file that compiles and calls the host', async () => {
    const { code, stdout, stderr } = await run('acme/shop', '--out', 'client.ts');
    expect({ code, stdout, stderr }).to.deep.equal({
      code: 0,
      stdout: 'wrote client.ts: 1 modules, 4 functions\n',
      stderr: '',
    });
    const use = place.write('use.ts', USE);
    expect(compile([use], { lib: ['es2022', 'dom'], types: [] })).to.deep.equal([]);
    const client = readFileSync(join(place.folder, 'client.ts'), 'utf8');
    const { run: call } = await import(
      toModuleUrl(USE.replace('./client.js', () => toModuleUrl(client)))
    );
    setup.provider.answer({
      body: '{"id":"1","name":"tea","records":[{"id":"x"}],"next_cursor":null}',
    });
    expect(await call(setup.host.url)).to.deep.equal([
      'tea',
      '1',
      ['x'],
      'a declared capability is required',
    ]);
    const [read, added] = setup.provider.requests;
    expect(read?.target).to.equal('/items/a%20b');
    expect(added?.headers.find(([name]) => name === 'idempotency-key')?.[1]).to.equal('mine');
  });

  it('prints what it wrote or compared as JSON with --json', async () => {
    const wrote = await run('--out', 'made.ts', '--json');
    const counts = { modules: 1, functions: 4 };
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

  it('has types and answers like those of another generator', async () => {
    const response = await fetch(`${setup.host.url}/openapi.json`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    await mkdir(join(place.folder, 'node_modules'));
    for (const name of ['openapi-fetch', 'openapi-typescript-helpers']) {
      symlinkSync(
        join(process.cwd(), 'node_modules', name),
        join(place.folder, 'node_modules', name),
      );
    }
    place.write('schema.ts', await generateOtherTypes(await response.json()));
    const other = place.write('other.ts', OTHER_CLIENT);
    expect(compile([other], { lib: ['es2022', 'dom', 'dom.iterable'], types: [] })).to.deep.equal(
      [],
    );
    const script = join(place.folder, 'other.mjs');
    await writeFile(script, OTHER_CLIENT.replace(/<paths>|: string|^import type.*$/gm, ''));
    setup.provider.answer({ body: '{"id":"7","name":"tea"}' });
    const { run: call } = await import(pathToFileURL(script).href);
    expect(await call(setup.host.url, TOKEN)).to.deep.equal(['tea', 'forbidden']);
  });
});
