import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { DESK_ENTRY } from '../../support/surfaces/desk-surface.js';
import { useSurfaceHost } from '../../support/surfaces/use-surface-host.js';

const AGENT = 'dev-service:agent:shop.use,modgate.calls.read';
const ANN = 'dev-user:ann:modgate.approvals';

const route = (method: string, path: string, operation: object): RouteOptions => {
  return { method, path, capability: 'shop.use', operation };
};
const ROUTES = [
  route('GET', '/items/{id}', { operation_id: 'read' }),
  route('GET', '/items/all', { operation_id: 'read_all' }),
  route('PUT', '/items/{id}', { operation_id: 'put' }),
  route('PUT', '/texts/{id}', { operation_id: 'write', body: 'bytes', body_types: ['text/plain'] }),
  route('GET', '/watched/{id}', { operation_id: 'watch', danger_level: 'high' }),
];
const ADMIN = {
  entities: [{ name: 'people', read_capability: 'shop.use', list_path: '/people' }],
  actions: [{ name: 'merge', capability: 'shop.use', invoke_path: '/merge' }],
};

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

describe('a request of a surface that names an operation', () => {
  const setup = useSurfaceHost({
    entry: DESK_ENTRY,
    surfaces: ['desk', 'till'],
    served: ['desk'],
    files: ({ url }) => {
      const describeShop = (name: string, mcp: object) => {
        const shop = describeModule(name, url, ROUTES, {
          ...{ mcp, responses: { mode: 'raw' } },
          limits: { hold_request_bytes: 1024 },
        });
        const { manifest } = shop as { manifest: { inline: object } };
        Object.assign(manifest.inline, { admin: ADMIN });
        return shop;
      };
      return {
        'shop.json': describeShop('shop', { expose: 'all' }),
        'hidden.json': describeShop('hidden', { expose: 'none' }),
        'narrow.json': describeShop('narrow', { expose: 'all', only: ['read'] }),
      };
    },
  });

  const send = async (request: object): Promise<Answer> => {
    const response = await call(setup.host, {
      ...{ method: 'POST', target: '/desk/door', as: AGENT, headers: [JSON_TYPE] },
      body: Buffer.from(JSON.stringify(request)),
    });
    return parseJson(response) as unknown as Answer;
  };
  const name = (id: string, module = 'shop') => ({ operation: { module, id } });
  const at = (path: string, module = 'shop') => ({ target: `/modules/${module}/http${path}` });
  const listReached = () => {
    const reached = setup.provider.requests.map(({ method, target }) => `${method} ${target}`);
    setup.provider.reset();
    return reached;
  };
  const approve = async ({ body, status, headers }: Answer) => {
    expect(status).to.equal(202);
    expect(headers['modgate-origin']).to.equal('host');
    const { id } = JSON.parse(body) as { id: string };
    const { status: decided } = await call(setup.host, {
      ...{ method: 'POST', target: `/approvals/${id}`, as: ANN, headers: [JSON_TYPE] },
      body: Buffer.from('{"decision":"approve"}'),
    });
    expect(decided).to.equal(200);
    return id;
  };
  const show = async (id: string) => {
    const response = await call(setup.host, { target: `/approvals/${id}`, as: ANN });
    return JSON.parse(String(parseJson(response)['arguments'])) as unknown;
  };

  it('calls the route of the operation', async () => {
    expect((await send({ ...at('/items/1'), ...name('read') })).status).to.equal(200);
    expect((await send({ ...at('/items/1'), ...name('read'), method: 'HEAD' })).status).to.equal(
      200,
    );
    expect((await send({ ...at('/items/all'), ...name('read_all') })).status).to.equal(200);
    expect(listReached()).to.deep.equal(['GET /items/1', 'HEAD /items/1', 'GET /items/all']);
  });

  it('is 404 for any other route, module, operation or page of the host', async () => {
    const requests = [
      { ...at('/items/all'), ...name('read') },
      { ...at('/items/1'), ...name('read_all') },
      { ...at('/items/1'), ...name('put') },
      { ...at('/items/1'), ...name('unknown') },
      { ...at('/items/1'), ...name('__proto__') },
      { ...at('/items/1'), ...name('entity:people') },
      { ...at('/items/1'), ...name('read', 'narrow') },
      { ...at('/items/1', 'narrow'), ...name('read') },
      { ...at('/items/all', 'narrow'), ...name('read_all', 'narrow') },
      { ...at('/items/1', 'hidden'), ...name('read', 'hidden') },
      { ...at('/nowhere'), ...name('read') },
      { ...at('/console-bridge/shop.use'), ...name('read'), method: 'POST' },
      { target: '/calls', ...name('read') },
      { target: '/operations', ...name('read') },
      { target: '/desk/counts', ...name('read') },
      { target: '/nowhere', ...name('read') },
    ];
    for (const request of requests) {
      expect((await send(request)).status, JSON.stringify(request)).to.equal(404);
    }
    expect(listReached()).to.deep.equal([]);
  });

  it('is as over HTTP without one: exposure and approvals do not count', async () => {
    expect((await send(at('/items/1', 'hidden'))).status).to.equal(200);
    expect((await send(at('/watched/1'))).status).to.equal(200);
    expect((await send({ target: '/calls' })).status).to.equal(200);
    expect(listReached()).to.deep.equal(['GET /items/1', 'GET /watched/1']);
  });

  it('calls an entity or an action that the body names too', async () => {
    const invoke = (operation: string, more: object) =>
      send({
        ...{
          method: 'POST',
          target: '/operations',
          headers: { 'content-type': 'application/json' },
        },
        ...{ body: JSON.stringify({ module: 'shop', operation }), ...more },
      });
    setup.provider.answer({ body: '{"records":[],"next_cursor":null}' });
    expect((await invoke('entity:people', name('entity:people'))).status).to.equal(200);
    expect((await invoke('entity:people', {})).status).to.equal(200);
    expect((await invoke('action:merge', name('entity:people'))).status).to.equal(404);
    expect((await invoke('entity:people', name('entity:people', 'hidden'))).status).to.equal(404);
    expect((await invoke('action:merge', name('action:merge'))).status).to.equal(202);
    expect((await invoke('action:merge', {})).status).to.equal(202);
    expect(listReached()).to.have.length(2);
  });

  it('waits for an approval of exactly this request, which is used once', async () => {
    const watch = { ...at('/watched/a%20b?q=1&q=%C3%A4&id=2'), ...name('watch') };
    const id = await approve(await send(watch));
    expect(await show(id)).to.deep.equal({ path_id: 'a b', q: ['1', 'ä'], query_id: '2' });
    const others = [
      { ...watch, method: 'HEAD' },
      { ...watch, target: watch.target.replace('%20', '%2520') },
      { ...watch, target: watch.target.replace('q=1&q', 'q=1&&q') },
      { ...watch, target: watch.target.replace('id=2', 'id=3') },
    ];
    for (const other of others) expect((await send(other)).status).to.be.oneOf([202, 404]);
    expect(listReached()).to.deep.equal([]);
    expect((await send(watch)).status).to.equal(200);
    expect((await send(watch)).status).to.equal(202);
    expect(listReached()).to.deep.equal(['GET /watched/a%20b?q=1&q=%C3%A4&id=2']);
  });

  it('waits with a long body of JSON or text, which is shown whole', async () => {
    const value = 'x'.repeat(5000);
    for (const [id, path, type, body] of [
      ['put', '/items/1', 'application/json', JSON.stringify({ value })],
      ['write', '/texts/1', 'text/plain', value],
    ] as const) {
      const headers = { 'content-type': type };
      const request = { ...at(path), ...name(id), method: 'PUT', headers, body };
      const shown = await show(await approve(await send(request)));
      expect(shown).to.deep.equal({ id: '1', body: id === 'put' ? { value } : value });
      expect((await send({ ...request, body: body.replace('x', 'y') })).status).to.equal(202);
      expect((await send(request)).status).to.equal(200);
      expect(setup.provider.only().body.toString()).to.equal(body);
      setup.provider.reset();
    }
  });

  it('waits with the headers that reach the provider with its bytes', async () => {
    const write = (type: string) =>
      send({
        ...{ ...at('/texts/2'), ...name('write'), method: 'PUT', body: 'x' },
        headers: { 'content-type': type },
      });
    await approve(await write('text/plain'));
    expect((await write('text/plain;charset=utf-16')).status).to.equal(202);
    expect((await write('text/plain')).status).to.equal(200);
  });

  it('is 400 without an approval if people cannot read the arguments', async () => {
    const put = { ...at('/items/9'), ...name('put'), method: 'PUT' };
    const headers = { 'content-type': 'application/json' };
    const deep = `${'['.repeat(200)}${']'.repeat(200)}`;
    for (const body of ['{"a":1,"a":2}', deep, '{', '', JSON.stringify('x'.repeat(49_152))]) {
      expect((await send({ ...put, headers, body })).status).to.equal(400);
    }
    expect((await send({ ...at('/watched/1?q=%ff'), ...name('watch') })).status).to.equal(400);
    const { approvals } = parseJson(await call(setup.host, { target: '/approvals?limit=1000' }));
    expect(JSON.stringify(approvals)).not.to.include('/items/9');
    expect(listReached()).to.deep.equal([]);
  });

  it('fails in the surface if it is not the names of a module and an operation', async () => {
    for (const operation of [null, 'read', { module: 'shop' }, { module: 1, id: 'read' }]) {
      const response = await call(setup.host, {
        ...{ method: 'POST', target: '/desk/door', as: AGENT, headers: [JSON_TYPE] },
        body: Buffer.from(JSON.stringify({ ...at('/items/1'), operation })),
      });
      expect(response.status).to.equal(500);
    }
    expect(listReached()).to.deep.equal([]);
  });
});
