import { expect } from 'chai';
import fc from 'fast-check';
import { call, parseJson, ROOT } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule, toRoutes } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const PREFIX = '/modules/forms/http';

/** Each with the raw paths that it describes, stated once more. */
const ROUTES: readonly (readonly [path: string, described: RegExp, encoded?: string[]])[] = [
  ['/users/', /^\/users\/$/],
  ['/users/{id}/', /^\/users\/[^/]+\/$/],
  ['/lists', /^\/lists$/],
  ['/{id}.json', /^\/[^/]+(?:\.|%2e)(?:j|%6a)(?:s|%73)(?:o|%6f)(?:n|%6e)$/i],
  ['/jobs/{name}:cancel', /^\/jobs\/[^/]+(?::|%3a)cancel$/i],
  ['/Products({key})', /^\/Products(?:\(|%28)[^/]+(?:\)|%29)$/i],
  ['/queues/{vhost}/{name}', /^\/queues\/[^/]+\/[^/]+$/, ['vhost']],
  ['/trees/{path...}/', /^\/trees\/.+\/$/],
];

const ENCODED_SLASH = /%2f|%3f|%23|%25[0-9a-f]{2}/i;

describe('forms of paths', () => {
  const setup = useHost(({ url }) => ({
    'forms.json': describeModule(
      'forms',
      url,
      ROUTES.map(([path, , encoded]) => ({
        method: 'GET',
        path,
        capability: 'use',
        ...(encoded && { operation: { encoded } }),
      })),
    ),
    'plain.json': describeModule('plain', url, toRoutes(['GET /a', 'GET /b/{x}'], 'use')),
  }));
  const get = (path: string) => call(setup.host, { target: PREFIX + path, as: ROOT });

  const FORWARDED: readonly [path: string, declared: string, params: Record<string, string>][] = [
    ['/users/', '/users/', {}],
    ['/users/7/', '/users/{id}/', { id: '7' }],
    ['/report.json', '/{id}.json', { id: 'report' }],
    ['/a%20b.json?x=/', '/{id}.json', { id: 'a b' }],
    ['/jobs/nightly:cancel', '/jobs/{name}:cancel', { name: 'nightly' }],
    ["/Products('x')", '/Products({key})', { key: "'x'" }],
    ['/queues/%2F/orders', '/queues/{vhost}/{name}', { vhost: '/', name: 'orders' }],
    ['/queues/%2f/o', '/queues/{vhost}/{name}', { vhost: '/', name: 'o' }],
    ['/queues/a%3Fb%23/o', '/queues/{vhost}/{name}', { vhost: 'a?b#', name: 'o' }],
    ['/queues/a%252Fb/o', '/queues/{vhost}/{name}', { vhost: 'a%2Fb', name: 'o' }],
    ['/queues/v/o', '/queues/{vhost}/{name}', { vhost: 'v', name: 'o' }],
    ['/trees/a/b/', '/trees/{path...}/', { path: 'a/b' }],
  ];
  for (const [path, declared, params] of FORWARDED) {
    it(`forwards ${path} as it came`, async () => {
      const response = await get(path);
      expect(response.status, response.body.toString()).to.equal(200);
      expect(parseJson(response)).to.deep.include({ declared_path: declared, path_params: params });
      expect(setup.provider.only().target).to.equal(path);
    });
  }

  const UNMATCHED = [
    ...['/users', '/users/7', '/users//', '/users/7//', '//users/', '/lists/', '/.json', '/trees/'],
    ...['/jobs/:cancel', '/jobs/a:cancel/', '/Products()', '/trees/a/b', '/users/%2F/'],
    ...['/queues/v/a%2Fb', '/queues/%2F..%2F/o', '/queues/%252e%252e/o', '/queues/a%5C/o'],
    ...['/queues/%2F/', '/queues//o', '/a%2Fb.json', '/queues/%2F%00/o', '/trees/a%2Fb/'],
  ];
  for (const path of UNMATCHED) {
    it(`answers 404 to ${path}`, async () => {
      expectProblem(await get(path), 404);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('names the route that differs by a final slash', async () => {
    const near = async (path: string) => expectProblem(await get(path), 404);
    expect((await near('/users')).next_actions).to.deep.equal([
      'there is a route with a final slash: GET /users/',
    ]);
    const problem = await near('/lists/');
    expect(problem.next_actions).to.deep.equal([
      'there is a route without the final slash: GET /lists',
    ]);
    expect(problem.errors).to.deep.equal([{ field: 'path', reason: 'the path ends with a slash' }]);
  });

  it('explains the near miss', async () => {
    const target = `/explain?method=GET&target=${encodeURIComponent(`${PREFIX}/users`)}`;
    const { checks } = parseJson(await call(setup.host, { target, as: ROOT }));
    const route = (checks as Record<string, unknown>[]).find(({ check }) => check === 'route');
    expect(route).to.deep.include({ outcome: 'fail', status: 404 });
    expect(route?.['next_actions']).to.include('there is a route with a final slash: GET /users/');
  });

  it('accepts no final slash for a module without such a route', async () => {
    for (const path of ['/a/', '/b/7/', '/b/']) {
      const target = `/modules/plain/http${path}`;
      expectProblem(await call(setup.host, { target, as: ROOT }), 404);
    }
    expect(setup.provider.requests).to.have.length(0);
  });

  it('calls the provider with no path that the template does not describe', async () => {
    const first = fc.constantFrom('users', 'queues', 'jobs', 'trees', 'lists', 'Products(', 'a');
    const piece = fc.constantFrom(
      ...['/', '//', '%2F', '%2f', '%252F', '%3F', '%23', '%25', '.', '..', '%2e%2e', '%5C', ';'],
      ...['a', '7', '.json', ':cancel', '(', ')', '%00', '%C3%A9', '%2e', 'users', 'queues'],
    );
    const path = fc
      .tuple(first, fc.array(piece, { maxLength: 6 }))
      .map(([start, pieces]) => `/${start}${pieces.join('')}`);
    await fc.assert(
      fc.asyncProperty(path, async (sent) => {
        setup.provider.reset();
        const response = await get(sent);
        const [request] = setup.provider.requests;
        if (request === undefined) {
          expect(response.status).to.be.oneOf([400, 404]);
          return;
        }
        expect(request.target).to.equal(sent);
        const declared = parseJson(response)['declared_path'];
        const route = ROUTES.find(([template]) => template === declared);
        expect(sent).to.match(route?.[1] ?? /^$/);
        expect(new URL(sent, 'http://provider.test').pathname).to.equal(sent);
        const isEncoded = route?.[2] !== undefined;
        if (!isEncoded) expect(sent).not.to.match(ENCODED_SLASH);
      }),
      { numRuns: 500 },
    );
  });
});
