import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, listTools, problemOf } from '../../support/mcp/mcp-call.js';

const ALL = { expose: 'all', approve: 'never' };
const HASH = /_[0-9a-f]{16}$/;
const KIB = 1024;

const route = (path: string, operation: object = {}, method = 'GET'): RouteOptions => ({
  ...{ method, path, capability: 'shop.use', operation },
});
const namedRoutes = (operation_id: string) => [route('/items', { operation_id })];

const WRITE = route('/items', { operation_id: 'add' }, 'POST');

const LONG_NAME = `get_${'long_'.repeat(12)}name`;
const LONG_ENUM = Array.from({ length: 3000 }, (_, index) => `value number ${index}`);
const BOMB = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => {
    const next = { $ref: `manifest:schemas/S${index + 1}` };
    return [`S${index}`, { allOf: [next, next] }];
  }),
);

const BYTES: readonly RouteOptions[] = [
  route('/text', { operation_id: 'text', response: 'bytes', response_types: ['text/csv'] }),
  route('/image', { operation_id: 'image', response: 'bytes', response_types: ['image/png'] }),
  route('/mixed', {
    ...{ operation_id: 'mixed', response: 'bytes' },
    response_types: ['text/csv', 'image/png'],
  }),
  route('/any', { operation_id: 'any', response: 'bytes' }),
  route(
    '/upload',
    { operation_id: 'upload', body: 'bytes', body_types: ['application/xml'] },
    'POST',
  ),
  route('/photo', { operation_id: 'photo', body: 'bytes', body_types: ['image/png'] }, 'POST'),
  route('/events', { operation_id: 'events', stream: 'sse' }),
  route('/socket', { operation_id: 'socket', stream: 'websocket' }),
];

function describeNarrow(url: string): object {
  const routes = [...namedRoutes('list'), WRITE];
  const only = ['list', 'add', 'action:sync'];
  const narrow = describeModule('narrow', url, [...routes, route('/other')], {
    mcp: { ...ALL, only },
  });
  const { manifest } = narrow as { manifest: { inline: object } };
  const actions = ['sync', 'drop'].map((name) => {
    return { name, capability: 'shop.use', invoke_path: `/${name}` };
  });
  const entities = [{ name: 'items', read_capability: 'shop.use', list_path: '/items' }];
  Object.assign(manifest.inline, { admin: { actions, entities } });
  return narrow;
}

function describeHeavy(url: string): object {
  const heavy = describeModule(
    'heavy',
    url,
    [
      route(
        '/items/{id}',
        {
          operation_id: 'long',
          input_schema: { enum: LONG_ENUM },
        },
        'POST',
      ),
      route(
        '/bomb',
        { operation_id: 'bomb', input_schema: { $ref: 'manifest:schemas/S0' } },
        'PUT',
      ),
      { ...route('/words', { operation_id: 'words' }), summary: `a\u200b${'b'.repeat(200)}` },
    ],
    { mcp: ALL },
  );
  const { manifest } = heavy as { manifest: { inline: object } };
  Object.assign(manifest.inline, { schemas: { ...BOMB, S40: { type: 'object' } } });
  return heavy;
}

describe('what the surface mcp exposes', () => {
  const setup = useHost(
    ({ url }) => ({
      'narrow.json': describeNarrow(url),
      'read.json': describeModule('read', url, [route('/items', { operation_id: 'list' }), WRITE], {
        mcp: { expose: 'read', only: ['list', 'add'] },
      }),
      'long.json': describeModule('long', url, namedRoutes(LONG_NAME), { mcp: ALL }),
      'call.json': describeModule('call', url, namedRoutes('tool'), { mcp: ALL }),
      'acme.json': describeModule('acme/a', url, namedRoutes('b_c'), { mcp: ALL }),
      'bytes.json': describeModule('bytes', url, BYTES, { mcp: ALL }),
      'heavy.json': describeHeavy(url),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );
  const names = async (module: string) =>
    (await listTools(setup.host, { module })).map(({ name }) => name);

  it('is narrowed by only, whatever the kind of operation', async () => {
    expect(await names('narrow')).to.deep.equal(['narrow_list', 'narrow_add', 'narrow_sync']);
    const left = '{"module":"narrow","operation":"action:drop","arguments":{"body":{}}}';
    const body = Buffer.from(left);
    const headers = [['content-type', 'application/json']] as const;
    expectProblem(
      await call(setup.host, { method: 'POST', target: '/operations', headers, body }),
      403,
    );
    for (const name of ['narrow_drop', 'narrow_list_items', 'narrow_get_other']) {
      const refused = await callTool(setup.host, name).catch((error: Error) => error.message);
      expect(refused, name).to.include('Unknown tool');
    }
    expect(setup.provider.requests).to.deep.equal([]);
  });

  it('is not widened by only', async () => {
    expect(await names('read')).to.deep.equal(['read_list']);
  });

  it('shortens a long name to 48 characters with a hash', async () => {
    const [name = ''] = await names('long');
    expect(name).to.have.length(48).and.match(HASH);
    expect(name.startsWith('long_get_long_')).to.equal(true);
    expect((await callTool(setup.host, name)).isError).to.equal(undefined);
    expect(setup.provider.only().target).to.equal('/items');
  });

  it('does not use the names of the four tools for many', async () => {
    const [name = ''] = await names('call');
    expect(name).to.match(/^call_tool_[0-9a-f]{16}$/);
    expect((await callTool(setup.host, name)).isError).to.equal(undefined);
  });

  it('gives equal names a hash, for every caller', async () => {
    expect(await names('acme/a')).to.deep.equal(['acme_a_b_c']);
    const other = describeModule('acme_a', setup.provider.url, namedRoutes('b_c'), { mcp: ALL });
    setup.host.drop('other.json', other);
    await waitUntil('the other module has its tool', async () => {
      return (await names('acme_a')).length === 1;
    });
    const [first = '', second = ''] = [...(await names('acme/a')), ...(await names('acme_a'))];
    expect(first)
      .to.match(/^acme_a_b_c_[0-9a-f]{16}$/)
      .and.not.equal(second);
    expect(second).to.match(/^acme_a_b_c_[0-9a-f]{16}$/);
    const plain = await callTool(setup.host, 'acme_a_b_c').catch((error: Error) => error.message);
    expect(plain).to.include('Unknown tool');
  });

  it('has routes of bytes where all media types are text, and no streams', async () => {
    expect(await names('bytes')).to.deep.equal(['bytes_text', 'bytes_upload']);
  });

  it('gives and sends the text of bytes', async () => {
    setup.provider.answer({ body: 'a,b\n1,é\n', headers: [['content-type', 'text/csv']] });
    const result = await callTool(setup.host, 'bytes_text');
    expect(result.content).to.deep.equal([{ type: 'text', text: 'a,b\n1,é\n' }]);
    expect(result.structuredContent).to.equal(undefined);
    setup.provider.reset();
    await callTool(setup.host, 'bytes_upload', '{"body":"<a>\\u00e9</a>"}');
    const { body, headers } = setup.provider.only();
    expect(body.toString()).to.equal('<a>é</a>');
    expect(headerValue(headers, 'content-type')).to.equal('application/xml');
    const wrong = await callTool(setup.host, 'bytes_upload', '{"body":{}}');
    expect(problemOf(wrong)).to.include({ code: 'validation_failed' });
  });

  it('leaves out schemas of more than 32 KiB', async () => {
    const [long, bomb, words] = await listTools(setup.host, { module: 'heavy' });
    expect(long?.inputSchema).to.deep.equal({
      ...{ type: 'object', required: ['id', 'body'], additionalProperties: false },
      properties: { id: {}, body: {} },
    });
    // References that multiply at each step stay references.
    expect(JSON.stringify(bomb?.inputSchema).length).to.be.within(1000, 8 * KIB);
    expect(words?.description).to.match(/^a\\u200bb/);
    expect(words?.description.length).to.be.at.most(1000);
  });
});
