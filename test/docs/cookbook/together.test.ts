import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type PouchDatabase, startCouchServer } from '../../support/cookbook/couch-server.js';
import { CookbookServices } from '../../support/cookbook/services.js';
import {
  readDocumentedBlocks,
  readDocumentedCommands,
  runDocumented,
} from '../../support/docs/documented-commands.js';
import { writeDocumentedFiles } from '../../support/docs/documented-files.js';
import { findFreePort } from '../../support/free-port.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { openHost } from '../../support/open-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

const FOLDER = 'docs/cookbook';
/** Pages with tests of their own: their servers are programs of the machine, or their clients are scripts. */
const ALONE = [
  ...['aws-signature.md', 'final-slashes.md', 'git.md', 'graph.md', 'grpc.md', 'mqtt.md'],
  ...['mcp-servers.md', 'openai.md', 'rabbitmq.md', 'rabbitmq-rpc.md', 'registry.md'],
];
const PAGES = readdirSync(FOLDER)
  .filter((name) => !ALONE.includes(name))
  .map((name) => join(FOLDER, name));
const DOCUMENTS = 1000;
const PATIENCE_MS = 60_000;

interface LiveReplication {
  readonly local: PouchDatabase;
  readonly replication: { cancel(): void };
}

const AsyncFunction = (async () => {}).constructor as new (
  ...texts: readonly string[]
) => (...given: readonly unknown[]) => Promise<unknown>;

/** Each page with its services, behind one host; ports of the pages are replaced by free ones. */
describe(FOLDER, () => {
  let services: CookbookServices | undefined;
  /** The commands that prepare modules before the host starts. */
  const outputs = new Map<string, string>();

  const directory = createFolder();
  const couch = use(startCouchServer);
  const host = use(async () => {
    await couch.open('things').bulkDocs([{ _id: 'thing-1', n: 1 }]);
    const ports = new Map([['5984', couch.port]]);
    for (const port of ['4201', '4202', '4203', '4204']) ports.set(port, await findFreePort());
    services = new CookbookServices(directory, ports);
    for (const page of PAGES) services.start(page);
    for (const { command } of PAGES.flatMap(readDocumentedCommands)) {
      if (isPreparation(command)) outputs.set(command, services.runModgate(command));
    }
    for (const file of PAGES.flatMap((page) => writeDocumentedFiles(page, directory))) {
      services.replacePortsOf(file);
    }
    for (const port of ports.values()) await waitUntilOpen(port);
    return openHost(
      [
        ...['serve', '--env', 'development', '--port', '0'],
        ...['--modules', join(directory, 'modules.d'), '--state', join(directory, 'state')],
      ],
      { VAULT_PASSWORD: 's3same', VAULT_KEY: 'k-123' },
    );
  });

  after(async () => {
    await services?.stop();
  });

  for (const page of PAGES) {
    describe(page, () => {
      const commands = readDocumentedCommands(page);

      for (const { command, output } of commands) {
        it(`runs as written: ${command.slice(0, 60).replaceAll('\n', ' ')}…`, async () => {
          const printed = outputs.get(command) ?? (await runDocumented(command, host.url));
          expect(printed).to.equal(output);
        });
      }

      it('has a command to run', () => {
        expect(commands).not.to.have.length(0);
      });
    });
  }

  describe('PouchDB in raw mode', () => {
    const TOKEN = 'dev-service:sync:things.read,things.write';
    const openRemote = () => couch.openRemote(`${host.url}/modules/things/http`, TOKEN);

    it(`replicates ${DOCUMENTS} documents through the host, both ways`, async () => {
      const documents = Array.from({ length: DOCUMENTS }, (_, index) => ({
        _id: `document-${index}`,
        text: `Grüße ${index}`,
        price: index / 7,
      }));
      const source = couch.openLocal('source');
      await source.bulkDocs(documents);
      const pushed = await source.replicate.to(openRemote());
      expect(pushed).to.include({ ok: true, docs_written: DOCUMENTS });

      const target = couch.openLocal('target');
      const pulled = await target.replicate.from(openRemote());
      expect(pulled).to.include({ ok: true, docs_written: DOCUMENTS + 1 });
      const [all, original] = await Promise.all(
        [target, source].map((database) => database.allDocs({ include_docs: true })),
      );
      const bodies = original?.rows.map(({ doc }) => doc);
      expect(all?.rows.flatMap(({ doc = {} }) => ('price' in doc ? [doc] : []))).to.deep.equal(
        bodies,
      );

      // The checkpoints say that nothing is left to do.
      expect(await source.replicate.to(openRemote())).to.include({ ok: true, docs_written: 0 });
    });

    it('replicates live in both directions, as the page has it', async () => {
      const script = readDocumentedBlocks('docs/cookbook/couchdb.md').find(
        ({ kind }) => kind === 'js',
      );
      const body = script?.body.replaceAll('http://localhost:3000', host.url);
      const run = new AsyncFunction('PouchDB', `${body}\nreturn { local, replication };`);
      const { local, replication } = (await run(couch.Client)) as LiveReplication;
      const server = couch.open('things');
      const has = (database: PouchDatabase, id: string) =>
        database.get(id).then(
          () => true,
          () => false,
        );
      try {
        expect(await has(local, 'thing-1')).to.equal(true);
        for (const [from, to, id] of [
          [server, local, 'from-server'],
          [local, server, 'from-client'],
        ] as const) {
          expect(await has(to, id)).to.equal(false);
          await from.put({ _id: id });
          await waitUntil(id, () => has(to, id), PATIENCE_MS);
        }
      } finally {
        replication.cancel();
      }
    });

    it('sees the conflicts and missing documents of the database', async () => {
      const remote = openRemote();
      const { rev } = await remote.put({ _id: 'conflicting', n: 1 });
      expect(await remote.get('conflicting')).to.include({ _rev: rev, n: 1 });
      const repeated = remote.put({ _id: 'conflicting', n: 2 });
      expect(await rejectionOf(repeated)).to.include({ status: 409, name: 'conflict' });
      const missing = remote.get('missing');
      expect(await rejectionOf(missing)).to.include({ status: 404, name: 'not_found' });
    });

    it('is denied attachments clearly, in both directions', async () => {
      const remote = openRemote();
      const { rev } = await remote.put({ _id: 'picture' });
      const image = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
      const rejected = await rejectionOf(
        remote.putAttachment('picture', 'image', rev, image, 'image/png'),
      );
      expect(rejected).to.include({ status: 400, code: 'validation_failed' });
      expect(rejected['errors']).to.deep.equal([
        { field: 'content-type', reason: 'expected application/json or application/*+json' },
      ]);
      await couch.open('things').putAttachment('picture', 'image', rev, image, 'image/png');
      const failed = await rejectionOf(remote.getAttachment('picture', 'image'));
      expect(failed).to.include({ status: 502, code: 'external_dependency_failure' });
      const readLines = () => host.logs().filter(({ status }) => status === 502);
      await waitUntil('the line of the log', () => readLines().length > 0, PATIENCE_MS);
      expect(readLines()[0]).to.include({
        failure: 'protocol',
        failure_detail: 'content-type image/png',
      });
    });
  });
});

const isPreparation = (command: string) => command.startsWith('npx modgate ');

async function rejectionOf(work: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await work;
  } catch (error) {
    // For attachments, PouchDB rejects with the response.
    const { json } = error as { json?: () => Promise<Record<string, unknown>> };
    return json === undefined ? (error as Record<string, unknown>) : json.call(error);
  }
  return expect.fail('expected a rejection');
}

function waitUntilOpen(port: number): Promise<void> {
  const call = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  return waitUntil(`port ${port} to respond`, call, PATIENCE_MS);
}
