import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createGuideFolder, type GuideFolder } from '../../support/docs/guide-folder.js';

// test/load/documented-adapter.test.ts follows the page with packages of the registry.
describe('docs/extend/adapter.md', () => {
  let folder: GuideFolder;

  before(() => {
    folder = createGuideFolder();
    const types = join(process.cwd(), 'node_modules/@types');
    symlinkSync(types, join(folder.path, 'node_modules/@types'));
  });

  after(() => folder.remove());

  it('begins with a command that writes a package which builds and conforms', async () => {
    const compile = `node '${process.cwd()}/node_modules/typescript/bin/tsc'`;
    const output = await folder.run(
      `modgate new plugin acme-line && cd acme-line && ${compile} && { modgate test-plugin . || true; }`,
    );
    expect(output).to.not.match(/^ {2}FAIL /m);
    expect(output).to.match(/\n[1-9]\d+ passed, 0 failed, \d+ skipped$/);
  });

  it('packs what was built from the sources alone, with digests of these files', async () => {
    const path = join(folder.path, 'acme-line');
    const before = readFileSync(join(path, 'plugin.json'), 'utf8');
    writeFileSync(join(path, 'dist/deleted.js'), 'throw new Error();');
    const tools = `PATH='${process.cwd()}/node_modules/.bin':"$PATH"`;
    await folder.run(
      `cd acme-line && ${tools} npm pack && mkdir ../packed && tar -xzf *.tgz -C ../packed`,
    );
    expect(readFileSync(join(path, 'plugin.json'), 'utf8')).to.equal(before);
    expect(readdirSync(join(folder.path, 'packed/package/dist')))
      .to.include('index.js')
      .and.not.include('deleted.js');
    const list = 'modgate plugins --plugins packed --plugin-integrity enforce';
    expect(await folder.run(list)).to.match(/^acme-line +0\.1\.0 +known +verified /m);
  });
});
