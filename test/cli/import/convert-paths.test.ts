import { expect } from 'chai';
import { convert, convertOne, OK } from '../../support/cli/convert-operation.js';

describe('paths of an imported OpenAPI document', () => {
  it('decodes literals and renames parameters that a template cannot have', () => {
    const { route, listed } = convertOne({}, 'get', '/my%20items/{item.id}');
    expect(route?.path).to.equal('/my items/{item_id}');
    expect(listed).to.include(
      'GET /my%20items/{item.id}: name of the parameter item.id: it gets another one in the route',
    );
  });

  it('gives parameters names of their own where a template cannot have theirs', () => {
    const parameters = ['a.b', 'a:b', 'a_b', 'ä'].map((name, index) => {
      const schema = { type: 'string', maxLength: index + 1 };
      return { name, in: 'path', required: true, schema };
    });
    const { route } = convertOne({ parameters }, 'get', '/{a.b}/{a:b}/{a_b}/{ä}/{ö}');
    expect(route?.path).to.equal('/{a_b0}/{a_b1}/{a_b}/{_}/{_0}');
    expect(Object.keys(route?.operation?.path_params_schema?.['properties'] ?? {})).to.deep.equal([
      ...['a_b0', 'a_b1', 'a_b', '_'],
    ]);
  });

  it('has the members that stand beside a reference of a path', () => {
    const id = (type: string) => ({ name: 'id', in: 'path', required: true, schema: { type } });
    const [a, b] = ['a', 'b'].map((name) => ({ name, in: 'query', schema: { type: 'integer' } }));
    const { manifest, unmapped } = convert({
      paths: {
        '/far/{id}': { get: { responses: OK }, parameters: [id('string'), a] },
        '/near/{id}': {
          $ref: '#/components/pathItems/middle',
          post: { responses: OK },
          parameters: [id('integer')],
        },
        '/broken': { $ref: '#/nowhere', get: { responses: OK } },
      },
      components: { pathItems: { middle: { $ref: '#/paths/~1far~1{id}', parameters: [b] } } },
    });
    expect(unmapped.map(({ place, reason }) => `${place}: ${reason}`)).to.deep.equal([
      '/broken: it is a reference that leads nowhere',
    ]);
    const [far, get, post, broken] = manifest.http_routes;
    expect([far, get, post, broken].map((one) => `${one?.method} ${one?.path}`)).to.deep.equal([
      ...['GET /far/{id}', 'GET /near/{id}', 'POST /near/{id}', 'GET /broken'],
    ]);
    for (const { operation } of [get, post].flatMap((one) => one ?? [])) {
      expect(operation?.path_params_schema?.['properties']).to.deep.equal({
        id: { type: 'integer' },
      });
      expect(Object.keys(operation?.query_schema?.['properties'] ?? {})).to.deep.equal(['a', 'b']);
    }
  });

  it('leaves out paths whose encoded literals would become segments or parameters', () => {
    for (const path of ['/modules/acme%2Fcrm/http', '/a/%7Bid%7D', '/a%2f{id}']) {
      const { route, listed } = convertOne({}, 'get', path);
      expect(route, path).to.equal(undefined);
      expect(listed).to.include.members([
        `GET ${path}: the operation: route 'GET ${path}' has a literal that no request can match`,
      ]);
    }
  });

  it('takes a last parameter for several segments where its name or a host says so', () => {
    const names = ['proxy+', 'path*', '*path', '**path', '+path', 'path...', 'path:path', 'p:.+'];
    const paths = names.map((name) => convertOne({}, 'get', `/files/{${name}}`).route?.path);
    expect(paths).to.deep.equal([
      '/files/{proxy...}',
      ...Array.from({ length: 6 }, () => '/files/{path...}'),
      '/files/{p...}',
    ]);
    const schema = { type: 'string', pattern: '^a' };
    const marked = { in: 'path', name: 'rest', schema, 'x-modgate-rest': true };
    const { route } = convertOne(
      { parameters: [{ ...marked, example: 'a/b' }] },
      'get',
      '/f/{rest}',
    );
    expect(route?.path).to.equal('/f/{rest...}');
    expect(route?.operation?.encoded).to.equal(undefined);
    const aws = [{ in: 'path', name: 'proxy', schema }];
    expect(
      convertOne({ parameters: aws }, 'get', '/{proxy+}').route?.operation?.path_params_schema,
    ).to.deep.equal({ type: 'object', properties: { proxy: schema } });
    const elsewhere = ['/{proxy+}/a', '/a.{proxy+}', '/{proxy+}/'];
    expect(elsewhere.map((path) => convertOne({}, 'get', path).route?.path)).to.deep.equal([
      ...['/{proxy_}/a', '/a.{proxy_}', '/{proxy_}/'],
    ]);
  });

  it('reads what RFC 6570 writes before a parameter, or after the path', () => {
    const schema = { type: 'string', maxLength: 5 };
    const parameters = [{ in: 'path', name: 'id', schema }];
    const routes = [
      '/files{/path*}',
      '/files{/id}{.format}',
      '/files{?a,b}',
      '/files/{id}{?a}',
    ].map((path) => convertOne({ parameters }, 'get', path).route);
    expect(routes.map((route) => route?.path)).to.deep.equal([
      ...['/files/{path...}', '/files/{id}.{format}', '/files', '/files/{id}'],
    ]);
    expect(routes[1]?.operation?.path_params_schema?.['properties']).to.deep.equal({ id: schema });
  });

  it('keeps the root of the service', () => {
    expect(convertOne({}, 'get', '/').route?.path).to.equal('/');
  });

  it('takes parameters of the path that may hold a slash', () => {
    const parameters = [
      { in: 'path', name: 'a.b', 'x-multi-segment': true },
      { in: 'path', name: 'c', example: 'x/y' },
      { in: 'path', name: 'd' },
    ];
    const { route } = convertOne({ parameters }, 'get', '/{a.b}/{c}/{d}');
    expect(route?.operation?.encoded).to.deep.equal(['a_b', 'c']);
  });
});
