import { symlinkSync } from 'node:fs';
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
});
