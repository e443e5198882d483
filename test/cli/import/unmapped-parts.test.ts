import { expect } from 'chai';
import { convert, convertOne, jsonBody, OK } from '../../support/cli/convert-operation.js';

describe('an imported OpenAPI document with parts that become no route', () => {
  const CASES: readonly [title: string, operation: object, method: string, listed: string][] = [
    [
      'a redirect',
      { responses: { 302: { description: 'there' } } },
      'get',
      'redirect 302: name its origins in responses.redirects of the descriptor, in raw mode',
    ],
    [
      'a cookie',
      { parameters: [{ in: 'cookie', name: 'sid' }] },
      'get',
      'cookie sid: cookies are not forwarded',
    ],
    [
      'a header that is not forwarded',
      { parameters: [{ in: 'header', name: 'X-Tenant' }] },
      'get',
      'header X-Tenant: the header is not forwarded: name it in forward_headers of the descriptor if it may be',
    ],
    [
      'an object in the query',
      {
        parameters: [{ in: 'query', name: 'f', style: 'deepObject', schema: { type: 'object' } }],
      },
      'get',
      'object in the query parameter f: it is sent under other names, which the host forwards unchecked',
    ],
    [
      'a reference to another document',
      jsonBody({ properties: { a: { $ref: 'https://other.example/a.json' } } }),
      'post',
      'a reference to another document: any value is accepted there',
    ],
    [
      'a keyword that would reject more without a part',
      jsonBody({ not: { $ref: 'https://other.example/a.json' } }),
      'post',
      'keyword not: without what is left out, it would reject more than in the document',
    ],
    [
      'a list of schemas that is none',
      jsonBody({ allOf: { type: 'string' } }),
      'post',
      'keyword allOf: it is not a list of schemas',
    ],
    [
      'an example that tools take for a schema',
      jsonBody({ type: 'object', example: { a: [{ $id: 'x' }] } }),
      'post',
      'example in a schema: tools read its members, such as $id, as keywords',
    ],
    [
      'values that their type excludes',
      jsonBody({ properties: { v: { type: 'string', enum: [4.1, '3_lite', null] } } }),
      'post',
      'keyword enum: the type beside it excludes a value of it: the host does not check it',
    ],
    [
      'values of the items beside a list',
      jsonBody({ properties: { v: { type: 'array', enum: ['a', 'b'] } } }),
      'post',
      'keyword enum: the type beside it excludes a value of it: the host does not check it',
    ],
    [
      'a constant that its type excludes',
      jsonBody({ properties: { v: { type: ['boolean', 'null'], const: 'true' } } }),
      'post',
      'keyword const: the type beside it excludes a value of it: the host does not check it',
    ],
    [
      'values that are none',
      jsonBody({ properties: { v: { type: 'string', enum: [] } } }),
      'post',
      'keyword enum: it is empty: the host does not check it',
    ],
    [
      'a pattern between slashes',
      jsonBody({ properties: { v: { type: 'string', pattern: '/^[a-z]+$/i' } } }),
      'post',
      'keyword pattern: it is written between slashes and would match no text: the host does not check it',
    ],
    [
      'the security of an operation',
      { security: [] },
      'get',
      'security: each route needs its capability, and the descriptor has the credentials',
    ],
    [
      'the body of a GET that is not JSON',
      { requestBody: { content: { 'text/plain': {} } } },
      'get',
      'body of the request: that of a GET can only be JSON',
    ],
    [
      'a method that routes do not have',
      {},
      'options',
      'the operation: the host has no such routes',
    ],
  ];
  for (const [title, operation, method, expected] of CASES) {
    it(`lists ${title}`, () => {
      const { listed } = convertOne(operation, method);
      expect(listed).to.include(`${method.toUpperCase()} /items: ${expected}`);
    });
  }

  it('lists paths that no request can have', () => {
    for (const path of ['/a//', '/a//b', '/{a}{b}', '/console-bridge/x']) {
      const { route, listed } = convertOne({}, 'get', path);
      expect(route, path).to.equal(undefined);
      expect(listed[0]).to.match(/: the operation: /);
    }
  });

  it('lists nothing for paths as services have them', () => {
    const paths = ['/a/', '/{a}.json', '/{a}:cancel', '/Items({key})', '/caf%C3%A9-{x}'];
    for (const path of paths) expect(convertOne({}, 'get', path).listed, path).to.deep.equal([]);
    const { route } = convertOne({}, 'get', '/caf%C3%A9-{x y}/');
    expect(route?.path).to.equal('/café-{x_y}/');
  });

  it('lists the security of the document, and a path without a slash at its start', () => {
    const paths = { a: { get: { responses: OK } }, 'x-note': {} };
    const security = [{ key: [] }];
    const { manifest, unmapped } = convert({ paths, security });
    expect(manifest.http_routes).to.deep.equal([]);
    expect(unmapped).to.deep.equal([
      {
        place: 'the document',
        part: 'security',
        reason: 'each route needs its capability, and the descriptor has the credentials',
      },
      { place: 'a', part: 'the path', reason: 'a path starts with /' },
    ]);
  });

  it('lists HEAD if the import makes no GET route of the path', () => {
    const head = { responses: OK };
    const { unmapped } = convert({
      paths: {
        '/alone': { head },
        '/both': { head, get: { responses: OK } },
      },
    });
    const heads = unmapped.filter(({ place }) => place.startsWith('HEAD'));
    const reason = 'the host answers HEAD through a GET route, which this path does not have';
    expect(heads).to.deep.equal([{ place: 'HEAD /alone', part: 'the operation', reason }]);
  });

  it('lists nothing for headers that reach every provider', () => {
    const names = ['If-Match', 'idempotency-key', 'Prefer', 'Authorization', 'Accept-Language'];
    const parameters = names.map((name) => ({ in: 'header', name, required: true }));
    const { route, listed } = convertOne({ parameters }, 'delete');
    expect(listed).to.deep.equal([]);
    expect(route?.operation?.idempotency).to.equal('requires_key');
    const optional = parameters.map((parameter) => ({ ...parameter, required: false }));
    const other = convertOne({ parameters: optional }, 'delete').route?.operation;
    expect(other?.idempotency).to.equal(undefined);
  });
});
