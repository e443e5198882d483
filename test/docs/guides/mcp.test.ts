import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import {
  readDocumentedBlocks,
  readDocumentedCommands,
} from '../../support/docs/documented-commands.js';
import { createGuideFolder } from '../../support/docs/guide-folder.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { problemOf, type ToolResult } from '../../support/mcp/mcp-call.js';
import { openHost } from '../../support/open-host.js';
import { use } from '../../support/use.js';

const PAGE = 'docs/operate/mcp.md';
const BLOCKS = readDocumentedBlocks(PAGE);
const START = /^npm start -- (.*)$/m;
const NOTES = 'modules.d/notes.yaml';
const AGENT = 'dev-service:agent:notes.read,notes.write';

interface ServerEntry {
  readonly url: string;
  readonly authorization: string;
}

interface ClientFile {
  readonly [list: string]: Readonly<
    Record<string, { readonly url?: string; readonly httpUrl?: string; readonly headers?: object }>
  >;
}

/** The servers of each snippet that a client connects to by itself. */
function listServers(): ServerEntry[] {
  const files = BLOCKS.filter(({ kind }) => kind === 'json').map(({ body }) => JSON.parse(body));
  const ofJson = (files as ClientFile[]).flatMap(({ mcpServers, servers }) =>
    Object.values(mcpServers ?? servers ?? {}).flatMap(({ url, httpUrl, headers }) => {
      const address = url ?? httpUrl;
      const authorization: unknown = Reflect.get(headers ?? {}, 'Authorization');
      return address === undefined ? [] : [{ url: address, authorization: String(authorization) }];
    }),
  );
  const toml = BLOCKS.find(({ kind }) => kind === 'toml')?.body ?? '';
  const [, url = ''] = /^url = "(.*)"$/m.exec(toml) ?? [];
  const [, name = ''] = /^bearer_token_env_var = "(.*)"$/m.exec(toml) ?? [];
  return [...ofJson, { url, authorization: `Bearer \${${name}}` }];
}

const blocksOf = (kind: string) =>
  BLOCKS.filter((block) => block.kind === kind).map(({ body }) => body);

describe(PAGE, () => {
  const folder = use(createGuideFolder);
  const host = use(() => {
    cpSync('modules.d', join(folder.path, 'modules.d'), { recursive: true });
    const written = BLOCKS.map((block) => folder.writeFile(block)).filter((file) => file !== null);
    expect(written).to.deep.equal(['modgate.yaml']);
    const [, flags = ''] = START.exec(blocksOf('sh').join('\n')) ?? [];
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: { start: string };
    };
    // The arguments of `npm start`.
    const [, started = ''] = /core\/main\.js (.*)$/.exec(scripts.start) ?? [];
    return openHost([
      ...`${started} ${flags}`.split(' '),
      ...['--port', '0', '--modules', join(folder.path, 'modules.d')],
      ...['--state', join(folder.path, 'state')],
    ]);
  });

  after(async () => {
    folder.remove();
  });

  const connect = async ({ url, authorization }: ServerEntry) => {
    const client = new Client({ name: 'docs', version: '1' });
    const address = new URL(new URL(url).pathname, host.url);
    const requestInit = { headers: { authorization } };
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
    return client;
  };

  const expose = (block: string) => {
    const file = join(folder.path, NOTES);
    const descriptor = parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, stringify({ ...descriptor, ...(parse(block) as object) }));
  };

  it('has a configuration file that a host accepts', async () => {
    const output = await folder.run(
      'modgate serve --check --config modgate.yaml --env development',
    );
    expect(output).to.match(/\b0 errors/);
  });

  it('has configurations of clients that lead to a call of a tool', async () => {
    const servers = listServers();
    expect(servers).to.have.length(5);
    for (const { url, authorization } of servers) {
      expect(authorization).to.match(/^Bearer (?:dev-service:\S+|\$\S+)$/);
      const token = authorization.replace(/\$.*/, 'dev-service:agent:notes.read');
      const client = await connect({ url, authorization: token });
      const result = await client.callTool({ name: 'notes_listNotes', arguments: {} });
      expect(result.isError, url).to.equal(undefined);
      await client.close();
    }
  });

  it('shows what a token may call', async () => {
    const example = readDocumentedCommands(PAGE).find(({ command }) => command.startsWith('curl'));
    const command = (example?.command ?? '').replace('localhost:3000', new URL(host.url).host);
    expect(await folder.run(command)).to.equal(example?.output);
  });

  it('has descriptors without an error or a warning', async () => {
    const descriptors = blocksOf('yaml').filter((body) => body.startsWith(`# in ${NOTES}\n`));
    expect(descriptors).to.have.length(4);
    for (const block of descriptors) {
      expose(block);
      const output = await folder.run(`modgate check ${NOTES}`);
      expect(output, block).to.equal('1 file, 0 errors, 0 warnings');
    }
  });

  it('has commands with which a person approves a call', async () => {
    const waiting = blocksOf('yaml').at(-1) ?? '';
    expose(waiting);
    const authorization = `Bearer ${AGENT}`;
    const client = await connect({ url: `${host.url}/mcp/notes`, authorization });
    await waitUntil('the notes can be written', async () => {
      const { tools } = await client.listTools();
      return tools.some(({ name }) => name === 'notes_createNote');
    });
    const create = async () =>
      (await client.callTool({
        name: 'notes_createNote',
        arguments: { body: { title: 'milk' } },
      })) as ToolResult;
    const { code, approval_id: id } = problemOf(await create());
    expect(code).to.equal('approval_required');
    const commands = blocksOf('sh').at(-1)?.replaceAll('apr_ID', String(id)) ?? '';
    const output = await folder.run(`export MODGATE_URL=${host.url}\n${commands}`);
    expect(output).to.match(new RegExp(`${id} +pending[\\s\\S]*arguments[\\s\\S]*approved ${id}$`));
    expect((await create()).content[0]?.text).to.include('"milk"');
    await client.close();
  });
});
