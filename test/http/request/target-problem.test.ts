import { expect } from 'chai';
import fc from 'fast-check';
import { parseTarget } from '../../../core/http/request/target.js';
import type { PathProblem } from '../../../core/lib/routing/request-path.js';

function findPathProblem(target: string): PathProblem | null {
  const parsed = parseTarget(target);
  return parsed.kind === 'unmatched' ? parsed.problem : null;
}

const PIECES = [
  '%2e',
  '.',
  '..',
  '/',
  '%2f',
  '%5c',
  '\\',
  ';',
  '%',
  '%25',
  '2f',
  '%00',
  'a',
  '%c3%a9',
  '%ff',
  '|',
  '"',
  '%7f',
  '#',
  '?',
  '%3f',
  'é',
  ' ',
  '\u0000',
  '\u2028',
  '/http/',
  'crm',
];

const RULES: Readonly<Record<string, readonly [target: string, segment: number | null]>> = {
  'absolute-form': ['http://host/modules/crm/http/a', null],
  'bad-encoding': ['/modules/crm/http/a/%ff', 2],
  'module-name': ['/modules/CRM/http/a', null],
  'query-characters': ['/modules/crm/http/a?x=#', null],
  'raw-characters': ['/modules/crm/http/a/b/{c}', 3],
  'empty-segment': ['/modules/crm/http/a//b', 2],
  'dot-segment': ['/modules/crm/http/%2e%2e;x', 1],
  'encoded-slash': ['/modules/crm/http/a%5Cb', 1],
  'encoded-delimiter': ['/modules/crm/http/a%3Fb%00', 1],
  'control-character': ['/modules/crm/http/a%00', 1],
  'double-encoding': ['/modules/crm/http/a/%252e', 2],
  'too-many-segments': [`/modules/crm/http${'/a'.repeat(257)}`, null],
};

describe('problem of an unmatched target', () => {
  for (const [rule, [target, segment]] of Object.entries(RULES)) {
    it(`reports ${rule} and the segment`, () => {
      expect(findPathProblem(target)).to.include({ rule, segment });
    });
  }

  it('reports a trailing slash', () => {
    const bridge = '/modules/crm/http/console-bridge/';
    expect(findPathProblem(bridge)?.reason).to.equal('the path ends with a slash');
    expect(findPathProblem('/modules/crm/http/a/')).to.equal(null);
    expect(findPathProblem('/modules/crm/http/')).to.equal(null);
    expect(findPathProblem('/modules/crm/http//')?.reason).to.equal('segment 1 is empty');
  });

  it('accepts 256 segments of any form', () => {
    for (const segment of ['/a', '/%2F', '/%61', '/;']) {
      const path = (count: number) => `/modules/crm/http${segment.repeat(count)}`;
      expect(findPathProblem(path(256)), segment).to.equal(null);
      expect(findPathProblem(path(257))?.rule, segment).to.equal('too-many-segments');
      expect(findPathProblem(`${path(256)}/`)?.rule, segment).to.equal('too-many-segments');
    }
  });

  it('explains how to encode a slash in a name', () => {
    expect(findPathProblem('/modules/acme%2FCRM/http/a')?.reason).not.to.include('%2F');
    expect(findPathProblem('/modules/Crm/http/a')?.reason).to.include("'%2F'");
  });

  const PATH = fc.oneof(
    fc.string({ unit: fc.constantFrom(...PIECES), maxLength: 8 }),
    fc.string({ unit: 'binary' }),
    fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 4 })).map((parts) => parts.join('/')),
  );

  it('reports a problem for exactly the targets that do not match', () => {
    const prefix = fc.constantFrom(
      '/modules/crm/http/',
      '/modules/acme%2Fcrm/http/',
      '/modules/',
      'http://h/modules/crm/http/',
      '/',
      '',
    );
    fc.assert(
      fc.property(prefix, PATH, (start, rest) => {
        const target = start + rest;
        const isUnmatched = parseTarget(target).kind === 'unmatched';
        const problem = findPathProblem(target);
        expect(problem !== null, target).to.equal(isUnmatched);
        if (problem !== null) expect(Object.keys(RULES), target).to.include(problem.rule);
      }),
      { numRuns: 20_000 },
    );
  });

  it('names a segment that cannot match on its own', () => {
    fc.assert(
      fc.property(PATH, (rest) => {
        const [path = ''] = rest.split('?');
        const fault = findPathProblem(`/modules/crm/http/${path}`);
        if (fault === null || fault.segment === null) return;
        const segment = path.split('/')[fault.segment - 1];
        // Alone, an empty segment is the root.
        if (segment === '') return;
        expect(parseTarget(`/modules/crm/http/${segment}`).kind, path).to.equal('unmatched');
      }),
      { numRuns: 20_000 },
    );
  });
});
