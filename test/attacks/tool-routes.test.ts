import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../support/http/call.js';
import { describeModule, type RouteOptions } from '../support/http/modules.js';
import { callTool, problemOf } from '../support/mcp/mcp-call.js';
import { DESK_ENTRY } from '../support/surfaces/desk-surface.js';
import { useSurfaceHost } from '../support/surfaces/use-surface-host.js';

const AGENT = 'dev-service:agent:shop.use';

const route = (text: string, operation_id: string, more: object = {}): RouteOptions => {
  const [method = '', path = ''] = text.split(' ');
  return { method, path, capability: 'shop.use', operation: { operation_id, ...more } };
};

/** The routes of the tools. The neighbors, whose names begin with `near`, are none, or need approval. */
const ROUTES = [
  route('GET /items/{id}', 'read_item'),
  route('GET /items/all', 'near_read', { danger_level: 'high' }),
  route('DELETE /items/{id}', 'remove', { danger_level: 'low' }),
  route('DELETE /items/all', 'near_remove'),
  route('POST /items/{id}', 'add', { body: 'none', danger_level: 'low' }),
  route('POST /items/close', 'near_add', { body: 'none' }),
  route('POST /items/{id}/close', 'near_close', { body: 'none' }),
  route('GET /files/{path...}', 'read_file'),
  route('GET /files/secret', 'near_file', { danger_level: 'high' }),
  route('GET /files/{folder}/raw', 'near_raw', { danger_level: 'high' }),
  route('GET /docs/{id}.json', 'read_document'),
  route('GET /docs/secret.json', 'near_document', { danger_level: 'high' }),
  route('GET /pages/{id}', 'read_page'),
  route('GET /pages/{name}.md', 'near_page', { danger_level: 'high' }),
  route('GET /queues/{vhost}', 'read_queue', { encoded: ['vhost'] }),
  route('GET /queues/all', 'near_queue', { danger_level: 'high' }),
  route('GET /lists/{id}/', 'read_list'),
  route('GET /lists/all/', 'near_list', { danger_level: 'high' }),
  route('GET /two/{first}/{second}', 'read_two'),
  route('GET /two/{first}/all', 'near_two', { danger_level: 'high' }),
];

/** A tool, arguments with which its path is that of a neighbor, and others with its own path. */
const ATTACKS: readonly (readonly [tool: string, args: object, near: string, own: object])[] = [
  ['read_item', { id: 'all' }, 'GET /items/all', { id: 'All' }],
  ['remove', { id: 'all' }, 'DELETE /items/all', { id: '1' }],
  ['add', { id: 'close' }, 'POST /items/close', { id: 'closed' }],
  ['read_file', { path: 'secret' }, 'GET /files/secret', { path: 'secret/a' }],
  ['read_file', { path: 'a/raw' }, 'GET /files/a/raw', { path: 'a/b/raw' }],
  ['read_document', { id: 'secret' }, 'GET /docs/secret.json', { id: 'a' }],
  ['read_page', { id: 'a.md' }, 'GET /pages/a.md', { id: 'a' }],
  ['read_queue', { vhost: 'all' }, 'GET /queues/all', { vhost: 'a/b' }],
  ['read_list', { id: 'all' }, 'GET /lists/all/', { id: 'a' }],
  ['read_two', { first: 'a', second: 'all' }, 'GET /two/a/all', { first: 'all', second: 'a' }],
];
const OWN_IDS = [...new Set(ATTACKS.map(([tool]) => tool))];

describe('a tool whose arguments make the path of another route', () => {
  const setup = useSurfaceHost({
    entry: DESK_ENTRY,
    surfaces: ['desk', 'till'],
    served: ['desk', 'mcp'],
    files: ({ url }) => ({
      'some.json': describeModule('some', url, ROUTES, { mcp: { expose: 'all', only: OWN_IDS } }),
      'all.json': describeModule('all', url, ROUTES, { mcp: { expose: 'all' } }),
    }),
  });
  const listReached = () =>
    setup.provider.requests.map(({ method, target }) => `${method} ${target}`);

  for (const [tool, args, near, own] of ATTACKS) {
    it(`does not reach ${near} through ${tool}, exposed or not`, async () => {
      for (const module of ['some', 'all']) {
        const name = `${module}_${tool}`;
        const result = await callTool(setup.host, name, JSON.stringify(args), { as: AGENT });
        expect(problemOf(result)).to.include({ code: 'not_found' });
        expect(listReached()).to.deep.equal([]);
        const other = await callTool(setup.host, name, JSON.stringify(own), { as: AGENT });
        expect(other.isError).to.equal(undefined);
        expect(listReached()).to.have.length(1);
        setup.provider.reset();
      }
    });

    it(`reaches ${near} in a host that does not compare the operation`, async () => {
      const [method = '', path = ''] = near.split(' ');
      await call(setup.host, {
        ...{ method: 'POST', target: '/desk/door', as: AGENT, headers: [JSON_TYPE] },
        body: Buffer.from(JSON.stringify({ method, target: `/modules/some/http${path}` })),
      });
      expect(listReached()).to.deep.equal([near]);
    });
  }

  it('requests no approval', async () => {
    const response = await call(setup.host, { target: '/approvals' });
    expect(response.status, response.body.toString()).to.equal(200);
    expect(parseJson(response)).to.deep.equal({ approvals: [] });
  });
});
