import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { createFolder } from '../support/temporary-folder.js';

/** The official libraries, by the revision that they ask for: the first and the last of each. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  '2025-03-26': ['1.11.0', '1.12.3'],
  '2025-06-18': ['1.13.0', '1.24.0'],
  '2025-11-25': ['1.24.3', '1.32.2'],
  '2026-07-28': ['2.0.0', '2.4.0'],
};
/** The last that asks for a revision without an answer. */
const TOO_OLD = '1.10.2';
const PAGE = 'docs/operate/mcp.md';

const ROUTE = { method: 'GET', path: '/items/{id}', capability: 'shop.read' };

interface Client {
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(call: object): Promise<{ content: unknown }>;
  getNegotiatedProtocolVersion?(): string | undefined;
}

interface Transport {
  send(message: unknown, options?: unknown): Promise<void>;
}

interface Library {
  readonly Client: new (own: object, options?: object) => Client;
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => Transport;
}

const isFirst = (version: string) => version.startsWith('1.');

describe('official clients of MCP', () => {
  let folder: string;
  const setup = useHost(
    ({ url }) => ({
      'shop.json': describeModule('shop', url, [ROUTE], { mcp: { expose: 'read' } }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  before(function () {
    folder = createFolder();
    writeFileSync(join(folder, 'package.json'), '{"private": true}');
    const packages = [TOO_OLD, ...Object.values(VERSIONS).flat()].map((version) => {
      const name = isFirst(version) ? 'sdk' : 'client';
      return `v${version}@npm:@modelcontextprotocol/${name}@${version}`;
    });
    try {
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
      execFileSync('npm', ['install', ...options, ...packages], { cwd: folder, stdio: 'pipe' });
    } catch (error) {
      if (process.env['CI'] !== undefined) throw error;
      this.skip();
    }
  });

  async function load(version: string): Promise<Library> {
    const require = createRequire(join(folder, 'package.json'));
    const paths = isFirst(version) ? ['/client/index.js', '/client/streamableHttp.js'] : [''];
    const modules = paths.map(
      (path) => import(pathToFileURL(require.resolve(`v${version}${path}`)).href),
    );
    return Object.assign({}, ...(await Promise.all(modules))) as Library;
  }

  /** Lists and calls the tool, and returns the revision. */
  async function use(version: string): Promise<string | undefined> {
    const library = await load(version);
    let asked: string | undefined;
    class Recorder extends library.StreamableHTTPClientTransport {
      override send(message: unknown, options?: unknown): Promise<void> {
        asked ??= /"protocolVersion":"([^"]*)"/.exec(JSON.stringify(message))?.[1];
        return super.send(message, options);
      }
    }
    const requestInit = { headers: { authorization: 'Bearer dev-service:agent:shop.read' } };
    const client = new library.Client(
      { name: 'test', version: '1' },
      isFirst(version) ? {} : { versionNegotiation: { mode: 'auto' } },
    );
    await client.connect(new Recorder(new URL(`${setup.host.url}/mcp/shop`), { requestInit }));
    try {
      const [tool] = (await client.listTools()).tools;
      setup.provider.answer({ body: '{"id":7}' });
      const { content } = await client.callTool({ name: tool?.name, arguments: { id: '7' } });
      expect(content).to.deep.equal([{ type: 'text', text: '{"id":7}' }]);
      return client.getNegotiatedProtocolVersion?.() ?? asked;
    } finally {
      await client.close();
    }
  }

  for (const [revision, versions] of Object.entries(VERSIONS)) {
    for (const version of versions) {
      it(`list and call tools with ${version}, by the revision ${revision}`, async () => {
        expect(await use(version)).to.equal(revision);
      });
    }
  }

  it(`cannot connect up to ${TOO_OLD}`, async () => {
    const error = await use(TOO_OLD).catch((thrown: Error) => thrown.message);
    expect(error).to.include('protocol version is not supported');
  });

  it('are named in the page', () => {
    const page = readFileSync(PAGE, 'utf8');
    const minor = (version = '') => version.replace(/\.\d+$/, '');
    for (const [revision, [first, last]] of Object.entries(VERSIONS)) {
      expect(page).to.include(`| ${revision} | ${minor(first)} to ${minor(last)} |`);
    }
    expect(page).to.include(`up to ${minor(TOO_OLD)}`);
  });
});
