import { expect } from 'chai';
import fc from 'fast-check';
import { RouteConflict, RouteTable } from '../../../core/lib/routing/route-table.js';
import { parseRouteTemplate, TemplateError } from '../../../core/lib/routing/route-template.js';

function createTable(...routes: string[]): RouteTable<string> {
  const table = new RouteTable<string>();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    table.add({ method, template: parseRouteTemplate(path), value: path });
  }
  return table;
}

/** Routes of RabbitMQ, GitLab and npm: parameters for any character. */
function createEncodedTable(): RouteTable<string> {
  const table = new RouteTable<string>();
  const add = (method: string, path: string, encoded: string[]) =>
    table.add({ method, template: parseRouteTemplate(path, encoded), value: path });
  add('GET', '/queues/{vhost}/{name}', ['vhost']);
  add('GET', '/files/{rest...}', ['rest']);
  add('GET', '/plain/{rest...}', []);
  add('GET', '/docs/{id}.{ext}', ['id']);
  add('POST', '/queues/{host}/{name}', ['name']);
  return table;
}

function match(table: RouteTable<string>, method: string, path: string) {
  return table.match(method, path.slice(1).split('/'));
}

describe('route table', () => {
  it('prefers literal to parameter to rest, segment by segment, in any order of declaration', () => {
    const routes = ['GET /a/{x}', 'GET /{rest...}', 'GET /a/b', 'GET /{x}/b', 'GET /a/{rest...}'];
    for (const table of [createTable(...routes), createTable(...routes.toReversed())]) {
      expect(match(table, 'GET', '/a/b')?.value).to.equal('/a/b');
      expect(match(table, 'GET', '/a/c')?.value).to.equal('/a/{x}');
      expect(match(table, 'GET', '/z/b')?.value).to.equal('/{x}/b');
      expect(match(table, 'GET', '/a/c/d')?.value).to.equal('/a/{rest...}');
      expect(match(table, 'GET', '/z/c')?.value).to.equal('/{rest...}');
      expect(match(table, 'GET', '/a')?.value).to.equal('/{rest...}');
    }
  });

  it('matches the root alone with the template /', () => {
    const table = createTable('GET /', 'GET /{rest...}', 'GET /{x}');
    expect(table.match('GET', [])?.value).to.equal('/');
    expect(table.matchAll('GET', []).map(({ value }) => value)).to.deep.equal(['/']);
    expect(match(table, 'GET', '/a')?.value).to.equal('/{x}');
    expect(createTable('GET /{rest...}').match('GET', [])).to.equal(null);
    expect(() => createTable('GET /', 'GET /')).to.throw(RouteConflict);
  });

  it('backtracks from a better branch without a route', () => {
    const table = createTable('GET /a/b/c', 'GET /{x}/b/d', 'GET /a/{y}/e/{rest...}');
    expect(match(table, 'GET', '/a/b/d')?.params).to.deep.equal({ x: 'a' });
    expect(match(table, 'GET', '/a/b/e/f/g')?.params).to.deep.equal({ y: 'b', rest: 'f/g' });
    expect(match(table, 'GET', '/a/b/x')).to.equal(null);
  });

  it('backtracks from a branch that has only another method', () => {
    const table = createTable('POST /a/b', 'GET /a/{x}');
    expect(match(table, 'GET', '/a/b')?.value).to.equal('/a/{x}');
    expect(match(table, 'DELETE', '/a/b')).to.equal(null);
  });

  it('requires at least one segment for a rest parameter', () => {
    const table = createTable('GET /files/{rest...}');
    expect(match(table, 'GET', '/files')).to.equal(null);
    expect(match(table, 'GET', '/files/a/b')?.params).to.deep.equal({ rest: 'a/b' });
  });

  it('keeps parameters with hostile names as plain values', () => {
    const table = createTable('GET /{__proto__}/{constructor}');
    const params = match(table, 'GET', '/x/y')?.params ?? {};
    expect(Object.keys(params)).to.deep.equal(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(params)).to.equal(null);
  });

  it('rejects two routes with one method and one shape', () => {
    expect(() => createTable('GET /a/{x}', 'GET /a/{y}')).to.throw(
      RouteConflict,
      "route 'GET /a/{y}' has the shape of 'GET /a/{x}'",
    );
    expect(() => createTable('GET /{a...}', 'GET /{b...}')).to.throw(RouteConflict);
    expect(() => createTable('GET /a/{x}', 'POST /a/{x}')).not.to.throw();
  });

  it('keeps paths with and without a final slash apart', () => {
    const routes = ['GET /users', 'GET /users/', 'GET /users/{id}/', 'GET /f/{rest...}/'];
    const table = createTable(...routes, 'GET /g/{rest...}', 'GET /{x}');
    expect(match(table, 'GET', '/users')?.value).to.equal('/users');
    expect(match(table, 'GET', '/users/')?.value).to.equal('/users/');
    expect(match(table, 'GET', '/users/7/')?.params).to.deep.equal({ id: '7' });
    expect(match(table, 'GET', '/users/7')).to.equal(null);
    expect(match(table, 'GET', '/f/a/b/')?.params).to.deep.equal({ rest: 'a/b' });
    expect(match(table, 'GET', '/f/a/b')).to.equal(null);
    expect(match(table, 'GET', '/f/')).to.equal(null);
    expect(match(table, 'GET', '/g/a/')).to.equal(null);
    expect(match(table, 'GET', '/g/')).to.equal(null);
    expect(match(table, 'GET', '/z/')).to.equal(null);
    expect(() => createTable('GET /a/{x}/', 'GET /a/{y}/')).to.throw(RouteConflict);
    expect(() => createTable('GET /{a...}/', 'GET /{b...}')).not.to.throw();
  });

  it('matches parameters beside literals in one segment', () => {
    const table = createTable(
      'GET /{id}.json',
      'GET /{name}:cancel',
      'GET /Products({key})',
      'GET /{name}-{version}.zip',
      'GET /@{lat},{lon}',
      'GET /{plain}',
    );
    const read = (path: string) => {
      const routeMatch = match(table, 'GET', path);
      return [routeMatch?.value, { ...routeMatch?.params }];
    };
    expect(read('/7.json')).to.deep.equal(['/{id}.json', { id: '7' }]);
    expect(read('/.json.json')).to.deep.equal(['/{id}.json', { id: '.json' }]);
    expect(read('/job:cancel')).to.deep.equal(['/{name}:cancel', { name: 'job' }]);
    expect(read("/Products('a')")).to.deep.equal(['/Products({key})', { key: "'a'" }]);
    expect(read('/Products()')).to.deep.equal(['/{plain}', { plain: 'Products()' }]);
    const archive = ['/{name}-{version}.zip', { name: 'a', version: 'b-1.zip' }];
    expect(read('/a-b-1.zip.zip')).to.deep.equal(archive);
    expect(read('/a-.zip')).to.deep.equal(['/{plain}', { plain: 'a-.zip' }]);
    expect(read('/@1.5,-2')).to.deep.equal(['/@{lat},{lon}', { lat: '1.5', lon: '-2' }]);
    expect(read('/.json')).to.deep.equal(['/{plain}', { plain: '.json' }]);
  });

  it('tries segments with more literal characters first, whatever their order', () => {
    const routes = ['GET /{a}.b', 'GET /x{a}', 'GET /{a}.tar.b', 'GET /xy{a}.b', 'GET /{a}'];
    for (const table of [createTable(...routes), createTable(...routes.toReversed())]) {
      expect(match(table, 'GET', '/xyz.b')?.value).to.equal('/xy{a}.b');
      expect(match(table, 'GET', '/z.tar.b')?.value).to.equal('/{a}.tar.b');
      expect(match(table, 'GET', '/xz.b')?.value).to.equal('/{a}.b');
      expect(match(table, 'GET', '/xz')?.value).to.equal('/x{a}');
      expect(match(table, 'GET', '/z')?.value).to.equal('/{a}');
    }
    expect(() => createTable('GET /{a}.b', 'GET /{c}.b')).to.throw(RouteConflict);
    expect(match(createTable('GET /{a}b/c', 'GET /{a}/d'), 'GET', '/xb/d')?.value).to.equal(
      '/{a}/d',
    );
  });

  it('gives encoded characters only to parameters that accept them', () => {
    const table = createEncodedTable();
    const params = (method: string, decoded: string[], encoded: number[]) => {
      const routeMatch = table.match(method, decoded, encoded);
      return routeMatch && { ...routeMatch.params };
    };
    expect(params('GET', ['queues', '/', 'q'], [1])).to.deep.equal({ vhost: '/', name: 'q' });
    expect(params('GET', ['queues', 'v', 'a/b'], [2])).to.equal(null);
    expect(params('GET', ['queues', '/', 'a/b'], [1, 2])).to.equal(null);
    expect(params('POST', ['queues', 'v', 'a/b'], [2])).to.deep.equal({ host: 'v', name: 'a/b' });
    expect(params('GET', ['files', 'a', 'b?c'], [2])).to.deep.equal({ rest: 'a/b?c' });
    expect(params('GET', ['plain', 'a', 'b?c'], [2])).to.equal(null);
    expect(params('GET', ['docs', 'a/b.pdf'], [1])).to.deep.equal({ id: 'a/b', ext: 'pdf' });
    expect(params('GET', ['docs', 'a.p/f'], [1])).to.equal(null);
    expect(params('GET', ['a/b', 'x', 'y'], [0])).to.equal(null);
    expect(table.matchAll('GET', ['queues', '/', 'q'], [1])).to.have.length(1);
  });

  it('lists the other matches after the best one', () => {
    const table = createTable('GET /{rest...}', 'GET /a/{x}', 'GET /a/b');
    const all = table.matchAll('GET', ['a', 'b']).map(({ value }) => value);
    expect(all).to.deep.equal(['/a/b', '/a/{x}', '/{rest...}']);
  });

  it('finds the first of all routes that match', () => {
    const segment = fc.constantFrom('a', 'b', '{x}', '{y}', '{x}b', 'a{x}', 'a{x}b', '{x}a{y}');
    const path = fc.array(segment, { minLength: 1, maxLength: 4 });
    const request = fc.array(fc.constantFrom('a', 'b', 'c', 'acb', 'aab', ''), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.array(path, { maxLength: 12 }), request, (paths, decoded) => {
        const table = new RouteTable<string>();
        for (const parts of paths) addIfNew(table, `/${parts.join('/')}`);
        const routeMatch = table.match('GET', decoded);
        expect(routeMatch?.value).to.equal(table.matchAll('GET', decoded)[0]?.value);
      }),
    );
  });
});

function addIfNew(table: RouteTable<string>, path: string): void {
  try {
    table.add({ method: 'GET', template: parseRouteTemplate(path), value: path });
  } catch (error) {
    if (!(error instanceof RouteConflict || error instanceof TemplateError)) throw error;
  }
}

describe('parseRouteTemplate', () => {
  const good = [
    '/a/',
    '/{a}/',
    '/{a...}/',
    '/{a}.json',
    '/x{a}',
    '/{a},{b}',
    '/P({a})',
    '/.{a}',
    '/a',
    '/a/{b}',
    '/{b...}',
    '/:id',
    '/a;b',
    '/a b',
    '/ü/{x-1_Y}',
    '/*',
    '/a%zz',
  ];
  for (const text of good) {
    it(`accepts '${text}'`, () => {
      expect(parseRouteTemplate(text).text).to.equal(text);
    });
  }

  const bad: [string, string][] = [
    ['', 'must start with a slash'],
    ['a/b', 'must start with a slash'],
    ['//', 'has an empty segment'],
    ['/a//', 'has an empty segment'],
    ['/a//b', 'has an empty segment'],
    ['/a/./b', "has a segment '.', which no request can match"],
    ['/a/..', "has a segment '..', which no request can match"],
    ['/a/..;x', "has a segment '..;x', which no request can match"],
    ['/tickets/{id', 'has an unclosed parameter'],
    ['/{a}/{a}', "has two parameters named 'a'"],
    ['/{a...}/b', "has '{a...}' before its last segment"],
    ['/{a...}/b/', "has '{a...}' before its last segment"],
    ['/{a}{b}', "has two parameters without a literal character between them: '{a}{b}'"],
    ['/{a}.{a}', "has two parameters named 'a'"],
    ['/x{a...}', "has a segment that is neither a literal nor a parameter: 'x{a...}'"],
    ['/..;{a}', "has a segment '..;{a}', which no request can match"],
    ['/{a}?x', 'has a literal that no request can match'],
    ['/a{}', "has a segment that is neither a literal nor a parameter: 'a{}'"],
    ['/{a b}', "has a segment that is neither a literal nor a parameter: '{a b}'"],
    ['/{}', "has a segment that is neither a literal nor a parameter: '{}'"],
    ['/b}', "has a segment that is neither a literal nor a parameter: 'b}'"],
    ['/a?b', 'has a literal that no request can match'],
    ['/a#b', 'has a literal that no request can match'],
    ['/a\\b', 'has a literal that no request can match'],
    ['/a%2fb', 'has a literal that no request can match'],
    ['/a\u0085b', 'has a literal that no request can match'],
    ['/a\ud800', 'has a literal that no request can match'],
  ];
  for (const [text, message] of bad) {
    it(`rejects '${text}': ${message}`, () => {
      expect(() => parseRouteTemplate(text)).to.throw(TemplateError, message);
    });
  }
});
