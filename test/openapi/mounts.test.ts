import { expect } from 'chai';
import { createClient } from '../../core/client/index.js';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

const ROUTES = [
  { method: 'GET', path: '/', capability: 'shop.read' },
  { method: 'GET', path: '/items/{id}', capability: 'shop.read' },
];
const MOUNTS = [{ path: '/api/shop' }, { host: 'shop.example', path: '/v1' }];

interface Paths {
  '/modules/acme%2Fshop/http/items/{id}': {
    get: {
      parameters: { path: { id: string } };
      responses: { 200: { content: { 'application/json': unknown } } };
    };
  };
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, object>>;
  readonly tags: readonly object[];
}

describe('mounts in the API description', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('acme/shop', provider.url, ROUTES, { mount: MOUNTS }),
    'other.json': describeModule('other', provider.url, ROUTES),
  }));
  const ask = (query: string) => call(setup.host, { target: `/openapi.json${query}` });
  const read = async (query: string) => parseJson(await ask(query)) as unknown as Document;

  it('are named by the tag of the module', async () => {
    const { tags, servers } = await read('');
    expect(servers).to.deep.equal([{ url: '/' }]);
    expect(tags).to.deep.include({ name: 'acme/shop', 'x-modgate-mounts': MOUNTS });
    expect(tags).to.deep.include({ name: 'other' });
  });

  it('have a document of their own, with the templates as paths', async () => {
    const { servers, paths } = await read('?module=acme/shop&mount=/api/shop');
    expect(servers).to.deep.equal([{ url: '/api/shop' }]);
    expect(Object.keys(paths)).to.deep.equal(['/', '/items/{id}']);
    const document = await read('?module=acme/shop&mount=/v1&host=SHOP.example');
    expect(document.servers).to.deep.equal([{ url: '//shop.example/v1' }]);
  });

  it('are rejected where they do not exist, and without one module', async () => {
    for (const query of ['?module=acme/shop&mount=/v1', '?module=other&mount=/api/shop']) {
      expectProblem(await ask(query), 404);
    }
    const two = '?module=other&module=acme/shop&mount=/api/shop';
    for (const query of [
      '?mount=/api/shop',
      two,
      '?module=other&host=a',
      '?module=other&mount=x',
    ]) {
      expectProblem(await ask(query), 400);
    }
  });

  it('are the base path of a client', async () => {
    const path = '/modules/acme%2Fshop/http/items/{id}';
    const basePath = '/api/shop/';
    const requested: string[] = [];
    for (const options of [{}, { basePath }, { basePath: { 'acme/shop': basePath } }]) {
      const client = createClient<Paths>({
        ...{ url: setup.host.url, token: 'dev-system:root', ...options },
        fetch: (request) => {
          requested.push(new URL(request.url).pathname);
          return fetch(request);
        },
      });
      const { response } = await client.GET(path, { params: { path: { id: '7' } } });
      expect(response.status).to.equal(200);
    }
    const ownPath = '/modules/acme%2Fshop/http/items/7';
    expect(requested).to.deep.equal([ownPath, '/api/shop/items/7', '/api/shop/items/7']);
  });
});
