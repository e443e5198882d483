import { expect } from 'chai';
import { readBounded } from '../../../plugins/mcp/bounded-body.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, problemOf, type ToolResult } from '../../support/mcp/mcp-call.js';

const KIB = 1024;
const query_schema = {
  type: 'object',
  properties: { limit: { type: 'integer' }, 'fields[]': { type: 'string' } },
};
const ROUTES: readonly RouteOptions[] = [
  {
    ...{ method: 'GET', path: '/items/{id}', capability: 'm.use' },
    operation: { operation_id: 'find', query_schema },
  },
  { method: 'GET', path: '/all', capability: 'm.use', operation: { operation_id: 'all' } },
  { method: 'POST', path: '/add', capability: 'm.use', operation: { operation_id: 'add' } },
  {
    ...{ method: 'GET', path: '/text', capability: 'm.use' },
    operation: { operation_id: 'text', response: 'bytes', response_types: ['text/plain'] },
  },
];
const ENTITIES = [{ name: 'rows', read_capability: 'm.use', list_path: '/rows' }];

function describeLong(module: string, url: string, mcp: object, overrides: object = {}): object {
  const described = describeModule(module, url, ROUTES, {
    mcp: { expose: 'all', approve: 'never', ...mcp },
    ...overrides,
  }) as { manifest: { inline: object } };
  Object.assign(described.manifest.inline, { admin: { entities: ENTITIES } });
  return described;
}

/** JSON with so many bytes, half of them in characters of two bytes. */
const jsonOf = (bytes: number) => `"${'é'.repeat(bytes / 4)}${'x'.repeat(bytes / 2 - 2)}"`;

describe('results of tools', () => {
  const setup = useHost(
    ({ url }) => ({
      'usual.json': describeLong('usual', url, {}),
      'small.json': describeLong('small', url, { result_bytes: KIB }),
      'raw.json': describeLong('raw', url, { result_bytes: KIB }, { responses: { mode: 'raw' } }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  const read = (result: ToolResult) => {
    const { code, bytes, limit, arguments: names, next_actions } = problemOf(result);
    expect(code).to.equal('result_too_large');
    return { bytes, limit, names, advice: (next_actions as string[])[0] };
  };

  it('have at most 100 KiB by default, and otherwise name the arguments that narrow them', async () => {
    const body = jsonOf(100 * KIB);
    setup.provider.answer({ body });
    const { content } = await callTool(setup.host, 'usual_find', '{"id":"\\"},\\"data\\":"}');
    expect(content[0]?.text).to.equal(body);
    setup.provider.answer({ body: `${body} ` });
    expect(read(await callTool(setup.host, 'usual_find', '{"id":"1"}'))).to.deep.equal({
      ...{ bytes: 100 * KIB + 1, limit: 100 * KIB, names: ['limit', 'fields'] },
      advice: 'call the tool again with arguments that narrow the result: limit, fields',
    });
  });

  for (const [tool, args, names, advice] of [
    ['small_list_rows', '{}', ['limit', 'cursor'], /narrow the result: limit, cursor$/],
    ['small_all', '{}', [], /^call another tool that returns less/],
    ['raw_all', '{}', [], /^call another tool that returns less/],
    ['small_text', '{}', [], /^call another tool that returns less/],
    ['raw_add', '{"body":1}', [], /^do not repeat the call/],
    ['small_add', '{"body":1}', [], /^do not repeat the call/],
  ] as const) {
    it(`have at most mcp.result_bytes: ${tool}`, async () => {
      const type = tool.endsWith('text') ? 'text/plain' : 'application/json';
      const headers = [['content-type', type]] as const;
      const wrap = (bytes: number) => `{"records":[${jsonOf(bytes - 14)}]}`;
      setup.provider.answer({ body: wrap(KIB + 2), headers });
      const { advice: advised, ...other } = read(await callTool(setup.host, tool, args));
      expect(other).to.deep.equal({ bytes: KIB + 2, limit: KIB, names });
      expect(advised).to.match(advice);
      setup.provider.answer({ body: wrap(KIB - 2), headers });
      expect((await callTool(setup.host, tool, args)).content[0]?.text).to.equal(wrap(KIB - 2));
    });
  }

  it('are limited for errors of a raw provider, and not for those of the host', async () => {
    setup.provider.answer({ status: 409, body: jsonOf(2 * KIB) });
    const tooLarge = problemOf(await callTool(setup.host, 'raw_all'));
    expect(tooLarge).to.include({ code: 'result_too_large', bytes: 2 * KIB });
    expect(tooLarge['detail']).to.match(/^the call of raw_all failed with status 409, and /);
    const args = JSON.stringify({ id: '1', fields: 'x'.repeat(2 * KIB), limit: 'x' });
    expect(problemOf(await callTool(setup.host, 'small_find', args))).to.include({
      code: 'validation_failed',
    });
  });

  it('are read without being held, and not to the end of an endless stream', async () => {
    let pulled = 0;
    let isCanceled = false;
    const piece = new Uint8Array(64 * KIB);
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += piece.length;
        controller.enqueue(piece);
      },
      cancel: () => {
        isCanceled = true;
      },
    });
    const { bytes, length } = await readBounded(new Response(body), 100);
    expect(bytes).to.have.length(100);
    expect(bytes.buffer.byteLength).to.be.below(64 * KIB);
    expect(length).to.be.within(16 * KIB * KIB, 17 * KIB * KIB);
    expect(pulled).to.be.below(17 * KIB * KIB);
    expect(isCanceled).to.equal(true);
  });
});
