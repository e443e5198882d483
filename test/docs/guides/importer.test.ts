import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  readDocumentedBlocks,
  readDocumentedCommands,
} from '../../support/docs/documented-commands.js';
import { createGuideFolder, type GuideFolder } from '../../support/docs/guide-folder.js';

const PAGE = 'docs/extend/importer.md';

/** The adapter of the page before, and what the transport lists. */
const ADAPTER = `import { defineAdapter, secretReference } from 'modgate/contract';
import { integer, object, optional, string } from 'superstruct';
export const adapter = defineAdapter({
  kind: 'acme-line',
  config: object({ host: string(), port: integer(), token: optional(secretReference()) }),
  operation: object({ procedure: string() }),
  supports: {},
  open: () => { throw new Error('the import opens no provider'); },
});`;
const PROCEDURES = `export async function listProcedures({ config }) {
  const input = { type: 'object', description: 'Of port ' + config.port };
  return [{ name: 'orders.create', summary: 'Creates an order', input }];
}`;

describe(PAGE, () => {
  let folder: GuideFolder;

  before(() => {
    folder = createGuideFolder();
    const files = readDocumentedBlocks(PAGE).flatMap((block) => folder.writeFile(block) ?? []);
    expect(files).to.deep.equal(['plugins/acme-line/plugin.json', 'plugins/acme-line/index.js']);
    const write = (name: string, text: string) =>
      writeFileSync(join(folder.path, 'plugins/acme-line', name), text);
    write('package.json', '{"type":"module"}');
    write('adapter.js', ADAPTER);
    write('procedures.js', PROCEDURES);
  });

  after(() => folder.remove());

  it('has an importer that runs as written, and makes a module that passes check', async () => {
    const commands = readDocumentedCommands(PAGE);
    expect(commands).to.have.length(1);
    for (const { command, output } of commands) {
      expect(await folder.run(command)).to.equal(output);
    }
    expect(await folder.run('modgate check --plugins plugins')).to.match(/ok$|no errors|0 errors/);
  });
});
