import { expect } from 'chai';
import fc from 'fast-check';
import {
  ComparisonTooCostly,
  compareJson,
  type Difference,
  findNoise,
  MAX_DIFFERENCES,
  MAX_SHOWN_POINTER,
} from '../../core/lib/json/compare-json.js';
import { equalNumbers } from '../../core/lib/json/equal-numbers.js';
import { ExactJson } from '../../core/lib/json/exact-json.js';
import { createIgnoredPlaces } from '../../core/lib/json/ignored-places.js';

const json = new ExactJson();

function optionsFor(ignore: readonly string[] = []) {
  return { json, ignored: createIgnoredPlaces(ignore), showName: (name: string) => name };
}

function compare(live: string, other: string, ignore: readonly string[] = []): string[] {
  const differences = compareJson(json.parse(live), json.parse(other), optionsFor(ignore));
  return differences.map(({ pointer, kind }) => `${pointer} ${kind}`).sort();
}

describe('the comparison of two JSON documents', () => {
  it('finds members without order, items by place, and what kind of difference it is', () => {
    expect(compare('{"a":1,"b":[1,2]}', '{"b":[1,2],"a":1}')).to.deep.equal([]);
    const live = '{"a":1,"b":[1,2,3],"c":null,"d":{"e":"x"},"gone":true}';
    const other = '{"b":[2,1],"a":"1","c":[],"d":{"e":"y"},"new":{}}';
    expect(compare(live, other)).to.deep.equal([
      '/a type',
      '/b/0 value',
      '/b/1 value',
      '/b/2 missing',
      '/c type',
      '/d/e value',
      '/gone missing',
      '/new extra',
    ]);
    expect(compare('1', '[]')).to.deep.equal([' type']);
    expect(compare('"a"', '"b"')).to.deep.equal([' value']);
  });

  it('compares numbers by value, also those that a double may not hold', () => {
    expect(compare('[1.0,100,-0,1e400]', '[1,1e2,0,10e399]')).to.deep.equal([]);
    const large = compare('[9007199254740993,1e400]', '[9007199254740992,1e401]');
    expect(large).to.deep.equal(['/0 value', '/1 value']);
    expect(compare('["12345678901234567"]', '[12345678901234567]')).to.deep.equal(['/0 type']);
  });

  it('skips ignored places, with * for one step', () => {
    const live = '{"took":1,"items":[{"at":1,"id":1},{"at":2,"id":2}],"a/b":1,"m~n":1}';
    const other = '{"took":9,"items":[{"at":8,"id":1},{"at":7,"id":3}],"a/b":2,"m~n":2}';
    expect(compare(live, other, ['/took', '/items/*/at', '/a~1b', '/m~0n'])).to.deep.equal([
      '/items/1/id value',
    ]);
    expect(compare(live, other, ['/*'])).to.deep.equal([]);
    expect(compare(live, other, ['/items/1', '/items/0/at', '/took', '/a~1b', '/m~0n'])).to.be
      .empty;
    // An ignored member may be missing, and a pointer may lead nowhere.
    expect(compare('{"took":1}', '{}', ['/took', '/no/where'])).to.deep.equal([]);
  });

  it('has names of Object.prototype and __proto__ for plain names', () => {
    expect(compare('{"__proto__":1,"toString":1}', '{}')).to.deep.equal([
      '/__proto__ missing',
      '/toString missing',
    ]);
    expect(compare('{}', '{"constructor":1}')).to.deep.equal(['/constructor extra']);
  });

  it('lists twenty differences at most, with pointers of two hundred characters at most', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`m${index}`, 1]));
    expect(compare(JSON.stringify(many), '{}')).to.have.length(MAX_DIFFERENCES);
    const nest = (value: string) => `${'{"abcdefghi":'.repeat(100)}${value}${'}'.repeat(100)}`;
    const [firstPointer = ''] = compare(nest('1'), nest('2'));
    const pointer = firstPointer.split(' ')[0] ?? '';
    expect(pointer).to.have.length(MAX_SHOWN_POINTER);
    expect(pointer.endsWith('/abcdefghi')).to.equal(true);
  });

  it('compares what is nested as deeply as it is long', () => {
    const nest = (value: string) => `${'['.repeat(100_000)}${value}${']'.repeat(100_000)}`;
    expect(compare(nest('1'), nest('2'))).to.have.length(1);
    expect(compare(nest('1'), nest('1'))).to.deep.equal([]);
    const [live, again] = [json.parse(nest('1')), json.parse(nest('2'))];
    const noise = findNoise(live, again, optionsFor());
    expect(compareJson(live, json.parse(nest('3')), optionsFor(), noise)).to.deep.equal([]);
  });

  it('stops at its limit', () => {
    const list = Array.from({ length: 1_000_001 }, () => 0);
    expect(() => compareJson(list, list.slice(), optionsFor())).to.throw(ComparisonTooCostly);
  });

  it('does not count what differs between two live answers, whatever the index', () => {
    const live = json.parse(
      '{"at":1,"items":[{"id":"a","n":1},{"id":"b","n":1}],"tags":["x","y"]}',
    );
    const again = json.parse(
      '{"at":2,"items":[{"id":"b","n":1},{"id":"b","n":1}],"tags":["y","x"]}',
    );
    const noise = findNoise(live, again, optionsFor());
    const parsedAgain = json.parse(
      '{"at":3,"items":[{"id":"b","n":1},{"id":"a","n":1}],"tags":["y","y"]}',
    );
    expect(compareJson(live, parsedAgain, optionsFor(), noise)).to.deep.equal([]);
    const different = json.parse('{"items":[{"id":"a","n":2},{"id":"c"}],"tags":{}}');
    expect(compareJson(live, different, optionsFor(), noise)).to.have.deep.members([
      { pointer: '/tags', kind: 'type' },
      { pointer: '/items/0/n', kind: 'value' },
      { pointer: '/items/1/n', kind: 'missing' },
    ]);
  });

  it('finds what a simple comparison finds', () => {
    fc.assert(
      fc.property(value(), value(), (live, other) => {
        const differences = compareJson(live, other, optionsFor());
        const expected = compareSimply(live, other, '');
        if (expected.length > MAX_DIFFERENCES) expect(differences).to.have.length(MAX_DIFFERENCES);
        else expect(differences).to.have.deep.members(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('finds nothing after any order of members, and only noise after noise', () => {
    fc.assert(
      fc.property(value(), value(), (live, again) => {
        expect(compareJson(live, reorder(live), optionsFor())).to.deep.equal([]);
        const noise = findNoise(live, again, optionsFor());
        expect(compareJson(live, again, optionsFor(), noise)).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });

  it('compares written numbers as fractions do', () => {
    const digits = fc.stringMatching(/^(?:0|[1-9]\d{0,19})(?:\.\d{1,8})?(?:[eE][+-]?\d{1,2})?$/);
    fc.assert(
      fc.property(digits, digits, (a, b) => {
        expect(equalNumbers(a, b)).to.equal(toFraction(a) === toFraction(b));
        const [whole = '', exponent = '0'] = a.toLowerCase().split('e');
        const shifted = `${whole.includes('.') ? whole : `${whole}.`}000e${Number(exponent)}`;
        expect(equalNumbers(a, shifted)).to.equal(true);
      }),
    );
  });
});

function value() {
  return fc
    .jsonValue({ maxDepth: 4, depthSize: 'small' })
    .map((value) => JSON.parse(JSON.stringify(value)));
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
}

function compareSimply(live: unknown, other: unknown, pointer: string): Difference[] {
  if (typeOf(live) !== typeOf(other)) return [{ pointer, kind: 'type' }];
  if (typeof live !== 'object' || live === null) {
    return live === other ? [] : [{ pointer, kind: 'value' }];
  }
  const [a, b] = [live, other] as Record<string, unknown>[];
  const keys = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
  return [...keys].flatMap((key): Difference[] => {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Object.hasOwn(b ?? {}, key)) return [{ pointer: at, kind: 'missing' }];
    if (!Object.hasOwn(a ?? {}, key)) return [{ pointer: at, kind: 'extra' }];
    return compareSimply(a?.[key], b?.[key], at);
  });
}

function reorder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reorder);
  if (typeof value !== 'object' || value === null) return value;
  const reversed = Object.entries(value).reverse();
  return JSON.parse(
    `{${reversed.map(([key, inner]) => `${JSON.stringify(key)}:${JSON.stringify(reorder(inner))}`).join()}}`,
  );
}

/** The value times 10 to the power of 120. */
function toFraction(written: string): bigint {
  const [number = '', exponent = '0'] = written.toLowerCase().split('e');
  const [whole = '', fraction = ''] = number.split('.');
  return BigInt(whole + fraction) * 10n ** BigInt(120 + Number(exponent) - fraction.length);
}
