import { expect } from 'chai';
import { describeModule, type RouteOptions } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type ListedTool, listToolPage } from '../support/mcp/mcp-call.js';

const MCP = { expose: 'all', approve: 'never' };
const MAX_TOOLS = 1000;
/** A page of 1 MiB, and what the protocol adds to it. */
const MAX_BYTES = 1_200_000;
const SMALL = 2100;
const LARGE = 120;
const LARGE_LENGTH = 20_000;

const route = (index: number, summary: string, operation = {}): RouteOptions => {
  return {
    ...{ method: 'POST', path: `/items/${index}`, capability: 'many.use', summary },
    operation: { operation_id: `item_${index}`, ...operation },
  };
};

function describeMany(module: string, url: string, count: number, schema: object): object {
  const routes = Array.from({ length: count }, (_, index) =>
    route(index, 'Changes an item.', { input_schema: { $ref: 'manifest:schemas/Item' } }),
  );
  const many = describeModule(module, url, routes, { mcp: MCP });
  Object.assign((many as { manifest: { inline: object } }).manifest.inline, {
    schemas: { Item: schema },
  });
  return many;
}

interface Page {
  readonly tools: readonly ListedTool[];
  readonly nextCursor?: string;
}
type List = (cursor?: string) => Promise<Page>;

/** Lists all tools. @returns why a short request costs the host too much; `null` if it does not */
async function attack(list: List): Promise<string | null> {
  const names = new Set<string>();
  let listed = 0;
  for (let cursor: string | undefined, isOver = false; !isOver; isOver = cursor === undefined) {
    const page = await list(cursor);
    if (page.tools.length > MAX_TOOLS) return `a page has ${page.tools.length} tools`;
    const bytes = Buffer.byteLength(JSON.stringify(page));
    if (bytes > MAX_BYTES) return `a page has ${bytes} bytes`;
    listed += page.tools.length;
    for (const { name } of page.tools) names.add(name);
    cursor = page.nextCursor;
  }
  return names.size === listed ? null : 'a tool is listed twice';
}

/** A host that answers with all pages at once. */
function weaken(list: List): List {
  return async () => {
    const tools: ListedTool[] = [];
    for (let cursor: string | undefined, isOver = false; !isOver; isOver = cursor === undefined) {
      const page = await list(cursor);
      tools.push(...page.tools);
      cursor = page.nextCursor;
    }
    return { tools };
  };
}

describe('an attack by short requests for long lists of tools', () => {
  const setup = useHost(
    ({ url }) => ({
      'small.json': describeMany('small', url, SMALL, { type: 'object' }),
      'large.json': describeMany('large', url, LARGE, {
        type: 'object',
        description: 'é'.repeat(1000),
        enum: ['é'.repeat(LARGE_LENGTH)],
      }),
      'few.json': describeMany('few', url, 2, { type: 'object' }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );
  const listOf =
    (module: string): List =>
    (cursor) =>
      listToolPage(setup.host, { module }, cursor);

  for (const [module, count] of [
    ['small', SMALL],
    ['large', LARGE],
  ] as const) {
    it(`fails: the tools of '${module}' come in pages, each tool once`, async () => {
      expect(await attack(listOf(module))).to.equal(null);
      expect((await weaken(listOf(module))()).tools).to.have.length(count);
    });

    it(`succeeds on a host without pages: '${module}'`, async () => {
      expect(await attack(weaken(listOf(module)))).to.match(/^a page has/);
    });
  }

  it('fails with a cursor of another list', async () => {
    const { nextCursor } = await listToolPage(setup.host, { module: 'small' });
    for (const cursor of [String(nextCursor), '', 'few_none', '__proto__']) {
      const error = await listOf('few')(cursor).catch(({ message }: Error) => message);
      expect(error, cursor).to.match(/-32602 Unknown cursor/);
    }
    const first = await listToolPage(setup.host, { module: 'few' }, 'few_item_0');
    expect(first.tools.map(({ name }) => name)).to.deep.equal(['few_item_1']);
  });

  it('does not get old tools from a host that keeps them', async () => {
    const [before] = (await listOf('few')()).tools;
    expect(before?.description).to.match(/^Changes an item/);
    const routes = [route(0, 'Changed words.'), route(1, 'Other words.')];
    setup.host.drop('few.json', describeModule('few', setup.provider.url, routes, { mcp: MCP }));
    await waitUntil('the new words are listed', async () => {
      const [tool] = (await listOf('few')()).tools;
      return tool?.description.startsWith('Changed words.') === true;
    });
    const [tool] = (await listOf('few')()).tools;
    expect(tool?.inputSchema['properties']).to.deep.equal({ body: {} });
  });
});
