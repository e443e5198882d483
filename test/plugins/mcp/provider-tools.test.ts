import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { callTool, listTools, parseRpc, postMcp, problemOf } from '../../support/mcp/mcp-call.js';
import { startHost } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

/** Answers with the text that the argument `result` has, and remembers the body. */
const ENTRY = `import { defineAdapter } from ${JSON.stringify(CONTRACT_URL)};
import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
export default { adapters: [defineAdapter({
  kind: 'acme-tools',
  config: any(),
  supports: { streams: true, toolResults: true },
  open: () => ({
    manifest: async () => { throw new Error('it is inline'); },
    check: async () => {},
    invoke: async ({ operation: { body } }) => {
      const text = body === null ? 'null' : Buffer.from(body).toString();
      const { result, slow } = JSON.parse(text) ?? {};
      const echo = { content: [{ type: 'text', text }] };
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(result ?? JSON.stringify(echo)),
      };
    },
  }),
})] };`;

const STRUCTURE = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };
const RESULT = {
  type: 'object',
  required: ['content'],
  properties: { content: { type: 'array' }, structuredContent: STRUCTURE },
};
const INPUT = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { result: { type: 'string' }, n: { type: 'integer', minimum: 1 } },
};

const tool = (name: string, operation: object = {}) => ({
  method: 'POST',
  path: `/tools/${name}`,
  capability: 'tools.use',
  summary: `The ${name}`,
  description: `Does ${name}.\nNo word of others\u200b.`,
  operation: { operation_id: name, input_schema: INPUT, output_schema: RESULT, ...operation },
});

/** JSON leaves out what is undefined. */
const NO_TEXTS = { summary: undefined, description: undefined };

const ROUTES = [
  tool('add'),
  { ...tool('mute'), ...NO_TEXTS },
  tool('maybe', { body: 'optional' }),
  { ...tool('with'), path: '/tools/with/{id}' },
  {
    method: 'GET',
    path: '/resources',
    capability: 'tools.use',
    operation: { operation_id: 'res', response: 'bytes', response_types: ['text/plain'] },
  },
];

function describeTools(module: string, overrides: object = {}): object {
  return {
    module,
    provider: { kind: 'acme-tools', config: {} },
    mcp: { expose: 'all', approve: 'never', result_bytes: 2000, media_bytes: 5000 },
    manifest: {
      inline: {
        protocol: 'modgate.manifest.v1',
        module_id: 'tools',
        capabilities: ['tools.use'],
        http_routes: ROUTES,
      },
    },
    ...overrides,
  };
}

describe('tools of a provider', () => {
  let folder = '';

  const host = use(() => {
    folder = createFolder();
    writePlugin(folder, { name: 'acme-tools', entry: ENTRY });
    return startHost({
      args: ['--plugins', folder, '--surfaces', 'mcp'],
      files: {
        'box.json': describeTools('box'),
        'strict.json': describeTools('strict', { schemas: { output: 'enforce' } }),
      },
    });
  });

  before(async () => {
    await waitUntil('the tools', async () => (await listTools(host)).length === 10);
  });

  const give = (result: unknown, name = 'box_add') =>
    callTool(
      host,
      name,
      JSON.stringify({ result: typeof result === 'string' ? result : JSON.stringify(result) }),
    );

  it('are offered with the title, description and schemas of the manifest alone', async () => {
    const tools = await listTools(host, { module: 'box' });
    const [add, mute, , other] = tools as ((typeof tools)[number] & { title?: string })[];
    expect(add).to.include({
      title: 'The add',
      description: 'Does add.\nNo word of others\\u200b.',
    });
    const { $schema: _, ...input } = INPUT;
    expect(add?.inputSchema).to.deep.equal(input);
    expect(add).to.not.have.property('outputSchema');
    expect(mute).to.not.have.any.keys('title', 'description');
    expect(other?.description).to.match(/of module box/);
  });

  it('have an output schema where the host enforces it', async () => {
    const [add] = await listTools(host, { module: 'strict' });
    expect(add?.outputSchema).to.deep.equal(STRUCTURE);
    const right = { content: [], structuredContent: { sum: 3 } };
    expect((await give(right, 'strict_add')).structuredContent).to.deep.equal({ sum: 3 });
    const wrong = { content: [], structuredContent: { sum: 'x' } };
    const result = await give(wrong, 'strict_add');
    expect(problemOf(result).code).to.equal('external_dependency_failure');
  });

  it('take their arguments as the body, which the host checks', async () => {
    const text = '{"n": 12, "other": [1.50]}';
    const { content } = await callTool(host, 'box_add', text);
    expect(content[0]?.text).to.equal(text);
    const problem = problemOf(await callTool(host, 'box_add', '{"n":0}'));
    expect(problem).to.include({ code: 'validation_failed' });
    expect(problem['errors']).to.deep.equal([
      { field: 'n', reason: 'invalid: expected at least 1' },
    ]);
    expect((await callTool(host, 'box_maybe', '{}')).content[0]?.text).to.equal('{}');
    expect(problemOf(await callTool(host, 'box_add', '[1]')).code).to.equal('validation_failed');
  });

  it('pass on each block of a result, without members that no client knows', async () => {
    const content = [
      { type: 'text', text: 'a\u200b\u001b', annotations: { audience: ['user'], priority: 1 } },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///a', name: 'a', size: 3 },
      { type: 'resource', resource: { uri: 'file:///a', mimeType: 'text/plain', text: 'x' } },
      { type: 'resource', resource: { uri: 'file:///b', blob: 'aGk=' } },
    ];
    const sent = content.map((block) => ({ ...block, _meta: { a: 1 }, odd: true }));
    const structuredContent = { a: { b: [1.5, null, 'x'] } };
    expect(await give({ content: sent, structuredContent, more: 1 })).to.deep.include({
      content,
      structuredContent,
    });
    expect(await give({ content: [], structuredContent, isError: true })).to.deep.include({
      content: [],
      isError: true,
    });
    const odd = { type: 'text', text: 'x', annotations: { audience: 'all' } };
    expect((await give({ content: [odd] })).content).to.deep.equal([{ type: 'text', text: 'x' }]);
  });

  it('pass on each annotation that clients know, whatever the others', async () => {
    const lastModified = '2025-01-12T15:00:58.5+01:00';
    const annotations = { audience: ['user'], priority: 0, lastModified };
    const block = (own: object) => ({ type: 'text', text: 'x', annotations: own });
    const { content } = await give({
      content: [
        block({ ...annotations, more: 1 }),
        block({ ...annotations, priority: 2 }),
        block({ ...annotations, lastModified: '2025-01-12' }),
      ],
    });
    expect(content).to.deep.equal([
      block(annotations),
      block({ audience: ['user'], lastModified }),
      block({ audience: ['user'], priority: 0 }),
    ]);
  });

  it('may have a structure without blocks', async () => {
    expect(await give({ structuredContent: { sum: 3 } })).to.deep.include({
      content: [],
      structuredContent: { sum: 3 },
    });
    expect((await give({})).content).to.deep.equal([]);
  });

  it('pass on a block of an unknown type as a text with its JSON', async () => {
    const blocks = ['{"type": "video", "n": 12345678901234567890}', '{"type":"toString"}'];
    const { content, isError } = await give(`{"content":[${blocks.join(', ')}]}`);
    expect(content).to.deep.equal(blocks.map((text) => ({ type: 'text', text })));
    expect(isError).to.equal(undefined);
    const long = { content: [{ type: 'video', data: 'x'.repeat(2000) }] };
    expect(problemOf(await give(long)).code).to.equal('result_too_large');
  });

  it('pass on a link to a resource as a text in the revision that has none', async () => {
    const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };
    const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
    const result = JSON.stringify(JSON.stringify({ content: [link, image] }));
    const { body } = await postMcp(host, {
      method: 'tools/call',
      params: `"name":"box_add","arguments":{"result":${result}}`,
      revision: '2025-03-26',
    });
    const [, data = ''] = /^data: (\{.*)$/m.exec(body.toString()) ?? [];
    const [text, other] = JSON.parse(data).result.content;
    expect([text.type, JSON.parse(text.text)]).to.deep.equal(['text', link]);
    expect(other).to.deep.equal(image);
  });

  it('pass on a structure that survives a parse, and no structure beside an error', async () => {
    const exact = await give('{"content":[],"structuredContent":{"n":12345678901234567890}}');
    expect(exact).to.not.have.property('structuredContent');
    expect(exact.content).to.deep.equal([{ type: 'text', text: '{"n":12345678901234567890}' }]);
    const list = await give({ content: [{ type: 'text', text: 'a' }], structuredContent: [1] });
    expect(list).to.deep.include({ content: [{ type: 'text', text: 'a' }] });
    const twice = await give('{"content":[],"structuredContent":{"n":1,"n":2}}');
    expect(problemOf(twice).code).to.equal('provider_error');
    const failed = await give({ content: [], structuredContent: { n: 1 }, isError: true });
    expect(failed).to.include({ isError: true }).and.not.have.property('structuredContent');
  });

  it('bound texts and media of a result apart', async () => {
    const image = (length: number) => ({
      type: 'image',
      data: 'a'.repeat(length),
      mimeType: 'image/png',
    });
    expect((await give({ content: [image(5000)] })).isError).to.equal(undefined);
    expect(problemOf(await give({ content: [image(5001)] }))).to.include({
      code: 'result_too_large',
      bytes: 5001,
      limit: 5000,
    });
    const text = { content: [{ type: 'text', text: 'x'.repeat(2000) }] };
    expect(problemOf(await give(text))).to.include({ code: 'result_too_large', limit: 2000 });
    const structure = { content: [], structuredContent: { x: 'x'.repeat(2000) } };
    expect(problemOf(await give(structure)).code).to.equal('result_too_large');
  });

  it('are errors for anything else', async () => {
    for (const wrong of [
      null,
      [],
      { content: 'x' },
      { content: [null] },
      { content: [{ text: 'no type' }] },
      { content: [{ type: 'image', data: 7, mimeType: 'a/b' }] },
      { content: [{ type: 7 }] },
      { content: [{ type: 'resource', resource: { uri: 'a' } }] },
    ]) {
      const problem = problemOf(await give(wrong));
      expect(problem.code, JSON.stringify(wrong)).to.equal('provider_error');
    }
  });

  it('answer over HTTP with the result as JSON', async () => {
    const result = { content: [], isError: true };
    const response = await call(host, {
      method: 'POST',
      target: '/modules/box/http/tools/add',
      headers: [['content-type', 'application/json']],
      body: Buffer.from(JSON.stringify({ result: JSON.stringify(result) })),
    });
    expect(response.status).to.equal(200);
    expect((parseJson(response) as { data: unknown }).data).to.deep.equal(result);
  });

  it('have a text in place of a lone structure for clients of the first revision', async () => {
    const blocks = [{ type: 'text', text: 'a' }];
    for (const [content, expected] of [
      [[], [{ type: 'text', text: '{"a":1}' }]],
      [blocks, blocks],
    ]) {
      const result = JSON.stringify(JSON.stringify({ content, structuredContent: { a: 1 } }));
      const { body } = await postMcp(host, {
        method: 'tools/call',
        params: `"name":"box_add","arguments":{"result":${result}}`,
        revision: '2025-03-26',
      });
      expect(parseRpc(body).result).to.deep.equal({ content: expected });
    }
  });
});
