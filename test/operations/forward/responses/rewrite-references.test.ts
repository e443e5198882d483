import { expect } from 'chai';
import {
  rewriteLinks,
  rewriteReference,
} from '../../../../core/operations/forward/rewrite-references.js';
import { parseEndpointBase } from '../../../../core/provider/endpoint-base.js';

const PREFIX = '/modules/acme%2Fcrm/http';

function createContext(answered: string | null, ...others: string[]) {
  const base = answered === null ? null : parseEndpointBase(answered);
  return {
    base,
    bases: [...(base === null ? [] : [base]), ...others.map(parseEndpointBase)],
    prefix: PREFIX,
  };
}

const PLAIN = createContext('http://10.0.0.1:4100', 'http://10.0.0.2:4100');
const BASED = createContext('http://10.0.0.1:4100/api/v1/', 'https://two.example/api/v2');
const NAMELESS = createContext(null);

describe('rewriteReference', () => {
  for (const [title, context, reference, expected] of [
    ['a path', PLAIN, '/items/7', `${PREFIX}/items/7`],
    ['the root', PLAIN, '/', `${PREFIX}/`],
    ['a query and a fragment', PLAIN, '/a?x=%20&y="1"#z', `${PREFIX}/a?x=%20&y=%221%22#z`],
    ['the endpoint that answered', PLAIN, 'http://10.0.0.1:4100/a', `${PREFIX}/a`],
    ['another endpoint', PLAIN, 'HTTP://10.0.0.2:4100/a', `${PREFIX}/a`],
    ['an endpoint without a scheme', PLAIN, '//10.0.0.1:4100/a', `${PREFIX}/a`],
    ['credentials for the endpoint', PLAIN, 'http://u:p@10.0.0.1:4100/a', `${PREFIX}/a`],
    ['dot segments', PLAIN, '/a/../../b/./c', `${PREFIX}/b/c`],
    ['an endpoint without a URL', NAMELESS, '/items/7', `${PREFIX}/items/7`],
    ['a path below the base path', BASED, '/api/v1/items', `${PREFIX}/items`],
    ['the base path', BASED, '/api/v1', `${PREFIX}/`],
    ['the base path with a slash', BASED, '/api/v1/', `${PREFIX}/`],
    ['the base path of another endpoint', BASED, 'https://two.example/api/v2/a', `${PREFIX}/a`],
    ['the default port', BASED, 'https://two.example:443/api/v2/a', `${PREFIX}/a`],
    ['dots that stay below', BASED, '/x/%2e%2e/api/v1/a', `${PREFIX}/a`],
  ] as const) {
    it(`maps ${title} to the module`, () => {
      expect(rewriteReference(reference, context)).to.equal(expected);
    });
  }

  for (const [title, context, reference] of [
    ['a path outside the base path', BASED, '/items'],
    ['a path that only begins like it', BASED, '/api/v10/items'],
    ['another endpoint outside its base path', BASED, 'https://two.example/api/v1/a'],
    ['dots that lead out of the base path', BASED, '/api/v1/../secret'],
    ['encoded dots that lead out of it', BASED, '/api/v1/%2E%2e/secret'],
    ['a backslash', PLAIN, '/\\evil.example'],
    ['two references', PLAIN, '/a, /b'],
    ['white space', PLAIN, '/a\tb'],
    ['no URL', PLAIN, '//[/x'],
    ['a malformed port', PLAIN, 'http://10.0.0.1:4100.evil.example/a'],
  ] as const) {
    it(`drops ${title}`, () => {
      expect(rewriteReference(reference, context)).to.equal(null);
    });
  }

  it('encodes spaces and bytes beyond ASCII, as browsers do', () => {
    expect(rewriteReference('/a b', PLAIN)).to.equal(`${PREFIX}/a%20b`);
    expect(rewriteReference('/caf\u00c3\u00a9?q=a b', PLAIN)).to.equal(
      `${PREFIX}/caf%C3%A9?q=a%20b`,
    );
    expect(rewriteReference('a b', PLAIN)).to.equal('a%20b');
    expect(rewriteReference('https://other.example/a b', PLAIN)).to.equal(
      'https://other.example/a%20b',
    );
    expect(rewriteReference('http://evil.example @10.0.0.1/', PLAIN)).to.equal(
      'http://evil.example%20@10.0.0.1/',
    );
  });

  for (const reference of [
    '7',
    '../7',
    '?page=2',
    '#top',
    '',
    'https://10.0.0.1:4100/a',
    'http://10.0.0.1/a',
    'http://10.0.0.1:4100@evil.example/a',
    '//other.example/a',
    'https://other.example/api/v1',
    'urn:isbn:1',
    'mailto:a@b.example',
  ]) {
    it(`leaves '${reference}' unchanged`, () => {
      for (const context of [PLAIN, BASED, NAMELESS]) {
        if (context === NAMELESS && reference.startsWith('http:')) continue;
        expect(rewriteReference(reference, context)).to.equal(reference);
      }
    });
  }
});

describe('rewriteLinks', () => {
  for (const [title, header, expected] of [
    ['one link', '</api/v1/a?p=2>; rel="next"', `<${PREFIX}/a?p=2>; rel="next"`],
    [
      'several links',
      '</api/v1/a>;rel=next , <http://x.example/,y>; title="a, <b>; \\"c"',
      `<${PREFIX}/a>;rel=next, <http://x.example/,y>; title="a, <b>; \\"c"`,
    ],
    ['empty elements', ', </api/v1/a>,, ', `<${PREFIX}/a>`],
    ['a link outside the base path', '</b>; rel=up, <?p=2>; rel=next', '<?p=2>; rel=next'],
    ['nothing but such links', '</b>; rel=up, </c>', null],
    ['no target', 'rel=next', null],
    ['an open target', '</api/v1/a', null],
    ['an open quote', '</api/v1/a>; rel="next', null],
    ['an empty header', '', null],
  ] as const) {
    it(`handles ${title}`, () => {
      expect(rewriteLinks(header, BASED)).to.equal(expected);
    });
  }
});
