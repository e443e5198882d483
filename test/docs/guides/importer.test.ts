import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { IMPORTING } from '../../../core/testkit/clauses/importing.js';
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
/** No server listens at the port of the command of the page. */
const PROCEDURES = `import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
async function readNames({ host, port }, signal) {
  if (port === 4100) return ['orders.create'];
  const socket = connect({ host, port, signal });
  try {
    await once(socket, 'connect', { signal });
    socket.write('list\\n');
    return JSON.parse(await text(socket));
  } finally {
    socket.destroy();
  }
}
export async function listProcedures({ config }, { signal }) {
  const input = { type: 'object', description: 'Of port ' + config.port };
  const names = await readNames(config, signal);
  return names.map((name) => ({ name, summary: 'Creates an order', input }));
}`;

describe(PAGE, () => {
  let folder: GuideFolder;

  before(() => {
    folder = createGuideFolder();
    const files = readDocumentedBlocks(PAGE).flatMap((block) => folder.writeFile(block) ?? []);
    const names = ['plugin.json', 'index.js', 'testkit.js'];
    expect(files).to.deep.equal(names.map((name) => `plugins/acme-line/${name}`));
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

  it('has a subject with which the importer passes its clauses', async () => {
    const command = "modgate test-plugin plugins/acme-line --only 'importer.*' --json";
    const card = JSON.parse(await folder.run(`${command} || true`)) as {
      readonly subjects: readonly {
        readonly subject: string;
        readonly clauses: readonly { readonly id: string; readonly status: string }[];
      }[];
    };
    const own = card.subjects.find(({ subject }) => subject === "importer 'acme-line'");
    const passed = own?.clauses.filter(({ status }) => status === 'pass').map(({ id }) => id);
    const expected = IMPORTING.map(({ id }) => id).filter((id) => id !== 'importer.left-out');
    expect(passed).to.deep.equal(expected);
  });

  it('names a command that writes a package which builds, conforms and imports', async () => {
    const types = join(process.cwd(), 'node_modules/@types');
    symlinkSync(types, join(folder.path, 'node_modules/@types'));
    const compile = `node '${process.cwd()}/node_modules/typescript/bin/tsc'`;
    const written = await folder.run(
      `modgate new importer @acme/catalog && cd catalog && ${compile} && modgate test-plugin . | tail -1`,
    );
    expect(written).to.match(/\n12 passed, 0 failed, 2 skipped$/);
    const help = await folder.run('modgate import catalog --help --plugins catalog');
    expect(help).to.include('URL of a catalog').and.include('--auth <reference>');
    let authorization: string | undefined;
    const server = createServer((request, response) => {
      authorization = request.headers.authorization;
      response.end(
        '[{"method":"GET","path":"/orders"},{"method":"GET","path":"/e","streams":true}]',
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const words = `catalog http://127.0.0.1:${port}/ --module orders --out imported --auth file:token`;
      const command = `printf secret > token && modgate import ${words} --plugins catalog`;
      const imported = await folder.run(`${command} && cat imported/orders.yaml`);
      expect(imported).to.include('1 of 2 operations').and.include('is a stream');
      expect(imported).to.include('bearer: file:../token');
      expect(authorization).to.equal('Bearer secret');
    } finally {
      server.close();
    }
  });
});
