import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { startMcpServer, type TestTool } from '../../support/mcp/mcp-server.js';
import { connectClient } from '../../support/mcp/official-clients.js';
import { openHost } from '../../support/open-host.js';
import { use } from '../../support/use.js';

const PIXEL = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');

const BLOCKS = [
  { type: 'text', text: 'a \u200b b', annotations: { priority: 0.5 } },
  { type: 'image', data: PIXEL, mimeType: 'image/png' },
  { type: 'audio', data: PIXEL, mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a', name: 'a' },
  { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
];

const TOOLS: readonly TestTool[] = [
  {
    name: 'blocks',
    title: 'All blocks',
    description: 'Answers with a block of each kind.',
    inputSchema: {
      type: 'object',
      properties: { body: { type: 'string' }, count: { type: 'integer' } },
      required: ['count'],
    },
    annotations: { readOnlyHint: true },
    call: (args) => ({ content: BLOCKS, structuredContent: { args } }),
  },
  {
    name: 'fails',
    annotations: { readOnlyHint: true },
    call: () => ({
      content: [{ type: 'text', text: 'no' }],
      structuredContent: { a: 1 },
      isError: true,
    }),
  },
  {
    name: 'image',
    annotations: { readOnlyHint: true },
    call: ({ bytes }) => ({
      content: [{ type: 'image', data: 'A'.repeat(Number(bytes)), mimeType: 'image/png' }],
    }),
  },
  {
    name: 'text',
    annotations: { readOnlyHint: true },
    call: ({ bytes }) => ({ content: [{ type: 'text', text: 'A'.repeat(Number(bytes)) }] }),
  },
  {
    name: 'structured',
    outputSchema: {
      type: 'object',
      properties: { sum: { type: 'integer', minimum: 0, maximum: 9 } },
      required: ['sum'],
    },
    annotations: { readOnlyHint: true },
    call: ({ sum }) => ({ content: [], ...(sum !== null && { structuredContent: { sum } }) }),
  },
];

/** A server, what `modgate import mcp` makes of it, and a host that offers it to agents. */
describe('tools of an MCP server through /mcp', () => {
  let client: Client;

  const server = use(() => startMcpServer(() => TOOLS));
  const place = createWorkplace();
  const host = use(async () => {
    const { code, stderr } = await place.run(['import', 'mcp', '--module', 'desk', server.url]);
    expect([code, stderr]).to.deep.equal([0, '']);
    const descriptor = join(place.folder, 'modules.d/desk.yaml');
    appendFileSync(
      descriptor,
      'mcp: { expose: read }\nschemas: { output: enforce }\nlimits: { response_bytes: 8388608 }\n',
    );
    return openHost([
      ...['serve', '--env', 'development', '--port', '0', '--surfaces', 'mcp'],
      ...['--modules', join(place.folder, 'modules.d'), '--state', join(place.folder, 'state')],
    ]);
  });

  before(async () => {
    client = await connectClient(`${host.url}/mcp`, 'dev-service:agent:desk.read');
  });
  after(async () => {
    await client?.close();
  });

  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name: `desk_${name}`, arguments: args });

  it('are listed with the title, description and schemas of the server', async () => {
    const { tools } = await client.listTools();
    const [blocks] = tools;
    expect(blocks).to.deep.include({
      name: 'desk_blocks',
      title: 'All blocks',
      description: 'Answers with a block of each kind.',
      inputSchema: TOOLS[0]?.inputSchema,
    });
    expect(blocks?.annotations).to.include({ readOnlyHint: true });
    const structured = tools.find(({ name }) => name === 'desk_structured');
    expect(structured?.outputSchema).to.deep.include(TOOLS[4]?.outputSchema as object);
  });

  it('answer with the blocks and the structure of the server', async () => {
    const args = { count: 1, body: 'text', other: [1.5] };
    const result = await call('blocks', args);
    expect(result.content).to.deep.equal(BLOCKS);
    expect(result.structuredContent).to.deep.equal({ args });
    expect(result.isError).to.not.equal(true);
  });

  it('answer with an error of the tool without its structure', async () => {
    const result = await call('fails');
    expect([result.isError, result.content, result.structuredContent]).to.deep.equal([
      true,
      [{ type: 'text', text: 'no' }],
      undefined,
    ]);
  });

  it('name wrong arguments as the tool has them', async () => {
    const result = await call('blocks', { count: 'one' });
    expect(result.isError).to.equal(true);
    const { code, errors } = JSON.parse((result.content[0] as { text: string }).text);
    expect([code, errors[0].field]).to.deep.equal(['validation_failed', 'count']);
    const missing = await call('blocks');
    expect(JSON.parse((missing.content[0] as { text: string }).text).errors[0].field).to.equal(
      'count',
    );
  });

  it('bound texts and media by themselves', async () => {
    expect((await call('image', { bytes: 4_194_304 })).isError).to.not.equal(true);
    expect((await call('image', { bytes: 4_194_308 })).isError).to.equal(true);
    expect((await call('text', { bytes: 100_000 })).isError).to.not.equal(true);
    expect((await call('text', { bytes: 110_000 })).isError).to.equal(true);
  });

  it('answer with a structure that the offered schema accepts', async () => {
    expect((await call('structured', { sum: 5 })).structuredContent).to.deep.equal({ sum: 5 });
    expect((await call('structured', { sum: 10 })).isError).to.equal(true);
    expect((await call('structured', { sum: null })).isError).to.equal(true);
  });
});
