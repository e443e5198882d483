import { expect } from 'chai';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, listToolPage } from '../../support/mcp/mcp-call.js';
import { slowness } from '../../support/slowness.js';
import { readMainThreadMs } from '../../support/waited-ms.js';

const TOOLS = 2000;
const SHARED = 40;
const MAX_MS = 50;
/** The first list also describes the tools, and compiles the code. */
const MAX_FIRST_MS = 300;
const CALLERS = 20;

/** Shared schemas that refer to each other in a circle, and to all others. */
function createShared(): Record<string, object> {
  const reference = (index: number) => ({ $ref: `manifest:schemas/S${index % SHARED}` });
  const entries = Array.from({ length: SHARED }, (_, index) => [
    `S${index}`,
    {
      type: 'object',
      description: 'A part of an order. '.repeat(5),
      properties: {
        ...Object.fromEntries(
          Array.from({ length: 8 }, (_, field) => [`field_${field}`, { type: 'string' }]),
        ),
        next: { type: 'array', items: reference(index + 1) },
      },
    },
  ]);
  return Object.fromEntries(entries);
}

function createRoute(index: number, input: object): RouteOptions {
  return {
    ...{ method: 'POST', path: `/parts/${index}`, capability: `big.part_${index % CALLERS}` },
    summary: 'Changes a part of an order.',
    operation: { operation_id: `change_part_${index}`, input_schema: input },
  };
}

const MCP = { expose: 'all', approve: 'never' };

function describeBig(module: string, url: string, createInput: (index: number) => object): object {
  const routes = Array.from({ length: TOOLS }, (_, index) =>
    createRoute(index, createInput(index)),
  );
  const big = describeModule(module, url, routes, { mcp: MCP });
  const { manifest } = big as { manifest: { inline: object } };
  Object.assign(manifest.inline, { schemas: createShared() });
  return big;
}

const own = () => ({ type: 'object', properties: { text: { type: 'string' } } });

describe('lists of 2,000 tools', () => {
  const setup = useHostProcess(
    ({ url }) => ({
      'own.json': describeBig('own', url, own),
      'shared.json': describeBig('shared', url, (index) => {
        return { $ref: `manifest:schemas/S${index % SHARED}` };
      }),
    }),
    { args: ['--surfaces', 'mcp'] },
  );

  /** The CPU time of the main thread of the host. Milliseconds. */
  async function measure(work: () => Promise<unknown>): Promise<number> {
    const before = readMainThreadMs(setup.host.pid);
    await work();
    return readMainThreadMs(setup.host.pid) - before;
  }

  /** Lists all pages. @returns the number of tools, and the CPU time of the dearest page */
  async function listAll(module: string, as?: string) {
    const options = { module, ...(as !== undefined && { as }) };
    let count = 0;
    let dearestMs = 0;
    for (let cursor: string | undefined, isOver = false; !isOver; ) {
      const ms = await measure(async () => {
        const page = await listToolPage(setup.host, options, cursor);
        count += page.tools.length;
        cursor = page.nextCursor;
        isOver = cursor === undefined;
      });
      dearestMs = Math.max(dearestMs, ms);
    }
    return { count, dearestMs };
  }

  it('cost little after the first, over all their pages', async () => {
    await listAll('own');
    const ms = await measure(async () => {
      expect((await listAll('own')).count).to.equal(TOOLS);
    });
    expect(ms).to.be.below(MAX_MS * slowness());
  });

  it('cost little with shared schemas in a circle, for each page', async () => {
    const { count, dearestMs } = await listAll('shared');
    expect(count).to.equal(TOOLS);
    expect(dearestMs).to.be.below(MAX_FIRST_MS * slowness());
    expect((await listAll('shared')).dearestMs).to.be.below(MAX_MS * slowness());
  });

  it('cost little for callers with other scopes, and after a reload of another module', async () => {
    await listAll('own');
    for (let caller = 0; caller < CALLERS; caller += 1) {
      const { count, dearestMs } = await listAll(
        'own',
        `dev-service:c${caller}:big.part_${caller}`,
      );
      expect(count).to.equal(TOOLS / CALLERS);
      expect(dearestMs).to.be.below(MAX_MS * slowness());
    }
    const route = { method: 'GET', path: '/late', capability: 'late.read' };
    setup.host.drop('late.json', describeModule('late', setup.provider.url, [route], { mcp: MCP }));
    await waitUntil('the new module is listed', async () => {
      return (await listToolPage(setup.host, { module: 'late' })).tools.length === 1;
    });
    const ms = await measure(() => listAll('own'));
    expect(ms).to.be.below(MAX_MS * slowness());
  });

  it('cost little to search', async () => {
    const search = () => callTool(setup.host, 'search_tools', '{"query":"changes order 17"}');
    const describe = () => callTool(setup.host, 'describe_tool', '{"name":"own_change_part_17"}');
    for (const find of [search, describe]) {
      await find();
      expect(await measure(find)).to.be.below(MAX_MS * slowness());
    }
  });
});
