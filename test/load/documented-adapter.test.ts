import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { ADAPTER_CLAUSES } from '../../core/testkit/adapter-clauses.js';
import { AUTHENTICATION } from '../../core/testkit/clauses/authentication.js';
import { IMPORTING } from '../../core/testkit/clauses/importing.js';
import { SIGNING } from '../../core/testkit/clauses/signing.js';
import { SURFACE_CLAUSES } from '../../core/testkit/clauses/surfaces.js';
import {
  type AuthorFolder,
  createAuthorFolder,
  isRegistryUnreachable,
} from '../support/docs/author-folder.js';
import { type DocumentedBlock, readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { type HostProcess, startHostProcess } from '../support/start-host.js';

/** The pages form one sequence: each continues where the previous one ends. */
const PAGES = ['docs/extend/adapter.md', 'docs/extend/testkit.md', 'docs/extend/publishing.md'];
const CLAUSES = 'docs/reference/clauses.md';
const PLUGIN = 'acme-line';
/** An installation of all that modgate needs, on a busy machine. */
const INSTALL_TIMEOUT_MS = 300_000;

/** Run in the plugin's folder, so that modgate is the packed one. */
const START_PROVIDER = `
  import { createReferenceModule } from 'modgate/testkit';
  import { subjects } from './dist/testkit.js';
  const { config } = await subjects[0].start(createReferenceModule());
  console.log(JSON.stringify({ config }));`;

/** What further code of the pages uses. */
const FURTHER = `
  import { defineAdapter, ProviderFailure } from 'modgate/contract';
  import type { Invocation, OpenContext, Provider } from 'modgate/contract';
  import { nonempty, object, string } from 'superstruct';
  import { adapter } from './adapter.js';
  interface Calling { readonly invocation: Invocation; readonly context: OpenContext; }`;

describe(PAGES.join(', '), function () {
  this.timeout(INSTALL_TIMEOUT_MS);
  const blocks = PAGES.flatMap(readDocumentedBlocks);
  let author: AuthorFolder;
  let plugin: string;

  before(async function () {
    author = await createAuthorFolder();
    plugin = join(author.folder, 'work', PLUGIN);
    const [first] = blocks;
    const result = await author.run(first?.body ?? '');
    if (isRegistryUnreachable(result) && process.env['CI'] === undefined) {
      console.error(`skipped: the npm registry cannot be reached\n${result.stderr}`);
      this.skip();
    }
    expect(result.code, result.stdout + result.stderr).to.equal(0);
    expect(result.stdout)
      // Node 20 reports in TAP, later ones in words.
      .to.match(/^[#ℹ] pass [1-9]\d+$/m)
      .and.match(/^[#ℹ] fail 0$/m);
  });

  it('begins with the commands that make, build and test a plugin', () => {
    expect(blocks[0]?.kind).to.equal('sh');
    expect(blocks[0]?.body).to.include(`new plugin ${PLUGIN}\n`).and.include('\nnpm test\n');
  });

  it('shows nothing of the code but what was written, built and tested', () => {
    const files = readdirSync(plugin, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/node_modules|dist/.test(entry.parentPath))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    const examples = blocks.filter(({ kind }) => kind === 'ts' || kind === 'json');
    expect(examples.length).to.be.greaterThan(8);
    for (const { body } of examples) {
      expect(
        files.some((text) => text.includes(body)),
        body,
      ).to.equal(true);
    }
  });

  it('shows further code that an adapter may have', async () => {
    const further = blocks.filter(({ kind }) => kind === 'typescript').map(({ body }) => body);
    expect(further.length).to.be.greaterThan(5);
    writeFileSync(join(plugin, 'src/further.ts'), [FURTHER, ...further.map(complete)].join('\n'));
    const { code, stdout, stderr } = await author.run('npx tsc --noEmit');
    rmSync(join(plugin, 'src/further.ts'));
    expect(code, stdout + stderr).to.equal(0);
  });

  it('shows commands that run, in their order, with the output that they have', async () => {
    let compared = 0;
    for (const [index, block] of blocks.entries()) {
      if (index === 0) continue;
      const path = readPath(block);
      if (block.kind === 'yaml' && path !== null) await author.run(writeFile(block, path));
      if (block.kind !== 'sh') continue;
      const { code, stdout, stderr } = await author.run(block.body);
      expect(code, `${block.body}${stdout}${stderr}`).to.equal(0);
      const next = blocks[index + 1];
      if (next?.kind !== 'text') continue;
      expect(stdout.trim()).to.equal(next.body.trim());
      compared += 1;
    }
    expect(compared).to.equal(2);
  });

  it('has no block of another kind', () => {
    const kinds = new Set(blocks.map(({ kind }) => kind));
    expect([...kinds].sort()).to.deep.equal([
      'json',
      'jsonc',
      'sh',
      'text',
      'ts',
      'typescript',
      'yaml',
    ]);
    for (const { kind, body } of blocks) if (kind === 'jsonc') JSON.parse(body);
  });

  it('makes a package without tests and sources in it', async () => {
    const { stdout } = await author.run('npm pack --dry-run --json --ignore-scripts');
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).to.include.members(['plugin.json', 'dist/index.js', 'dist/testkit.js']);
    expect(paths.filter((path) => /test\.|^src/.test(path))).to.deep.equal([]);
  });

  it('makes an adapter that a host serves', async () => {
    const provider = spawn(process.execPath, ['--input-type=module', '-e', START_PROVIDER], {
      cwd: plugin,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let host: HostProcess | null = null;
    try {
      const [line] = (await once(createInterface(provider.stdout), 'line')) as [string];
      host = await startHostProcess({
        files: { 'line.json': { module: 'line', provider: { kind: PLUGIN, ...JSON.parse(line) } } },
        args: ['--plugins', join(author.folder, 'work')],
        env: { TEST_TOKEN: 'a-token-of-the-test' },
      });
      const url = `${host.url}/modules/line/http/echo/a%20b?x=%2F`;
      const headers = { authorization: 'Bearer dev-service:me:reference.use' };
      const { data } = await pollJson(url, headers, () => host?.output());
      expect(data).to.include({ method: 'GET', target: '/echo/a%20b?x=%2F' });
    } finally {
      await host?.stop();
      provider.kill();
    }
  });

  it('lists every clause, and no other', () => {
    const rows = readFileSync(CLAUSES, 'utf8').matchAll(/^\| `([a-z-]+\.[a-z-]+)` \| (.+) \|$/gm);
    const listed = [...rows].map(([, id, title]) => `${id}: ${title}`);
    const clauses = [
      ...ADAPTER_CLAUSES,
      ...AUTHENTICATION,
      ...SURFACE_CLAUSES,
      ...SIGNING,
      ...IMPORTING,
    ];
    expect(listed).to.deep.equal(clauses.map(({ id, title }) => `${id}: ${title}`));
  });
});

/** Completes a member of a provider or of an adapter, or statements of one. */
function complete(body: string, index: number): string {
  if (/^\s*facts:/.test(body))
    return `export const further_${index}: Partial<Provider> = {${body}};`;
  if (/^\s*\w+:/.test(body)) {
    return `export const further_${index} = defineAdapter({ ...adapter, ${body} });`;
  }
  return `export function further_${index}({ invocation, context }: Calling): void {
    void [invocation, context];
    ${body}}`;
}

/** A block that begins with `# PATH` is that file, any other a part of one. */
function readPath({ body }: DocumentedBlock): string | null {
  return /^# (\S+)\n/.exec(body)?.[1] ?? null;
}

function writeFile({ body }: DocumentedBlock, path: string): string {
  return `mkdir -p "$(dirname ${path})"; cat > ${path} <<'END'\n${body}END`;
}

/** The host reads the manifest from the provider after its start. */
async function pollJson(
  url: string,
  headers: Record<string, string>,
  explain: () => unknown,
): Promise<{ data: object }> {
  const end = Date.now() + 20_000;
  for (;;) {
    const response = await fetch(url, { headers });
    const text = await response.text();
    if (response.status === 200) return JSON.parse(text);
    if (Date.now() > end) expect.fail(`not served in time: ${text}\n${explain()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
