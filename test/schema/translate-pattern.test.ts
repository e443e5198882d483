import { expect } from 'chai';
import { array, assert, constantFrom, property } from 'fast-check';
import { RE2JS } from 're2js';
import { isSimplePattern } from '../../core/schema/simple-pattern.js';
import { translatePattern } from '../../core/schema/translate-pattern.js';

const PARTS = [
  ...['a', 'b', '.', '\\d', '\\s', '\\w', '\\S', '\\W', '[a-c]', '[^b]', '[^\\d]', '[\\w-]', '|'],
  ...['\\b', '\\B', '^', '$', '(?:a|b)', '(a)', '(?<n>b)', '(?:', '(', ')', '[]', '[^]'],
  ...['\\u{e9}', '\\uD83D\\uDE00', '\\p{L}', '\\P{Lu}', '\\p{Script=Greek}', '[\\b]', '\\cJ'],
  ...['*', '+', '?', '{2}', '{1,3}', '{0,2}?', '*?'],
];
const LETTERS = [...'abc1 -_Aé😀αΑ\n\b\u2028\ufeff'];

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

describe('translation of patterns', () => {
  it('matches the same texts as ECMA-262 does', () => {
    assert(
      property(
        array(constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join('')),
        array(array(constantFrom(...LETTERS), { maxLength: 5 }), { minLength: 5, maxLength: 5 }),
        (pattern, texts) => {
          if (!isPattern(pattern)) return;
          const translated = RE2JS.compile(translatePattern(pattern).source);
          for (const text of texts.map((letters) => letters.join(''))) {
            expect(translated.test(text), text).to.equal(new RegExp(pattern, 'u').test(text));
          }
        },
      ),
      { numRuns: 3000, seed: 7 },
    );
  });

  it('estimates the size of the program from above', () => {
    for (const pattern of ['a', '^.{1,255}$', '(?:[a-z]{3}x?){20}', 'a|bc|d*']) {
      const { source, size } = translatePattern(pattern);
      expect(RE2JS.compile(source).programSize(), pattern).to.be.at.most(size + 3);
    }
  });

  for (const pattern of [
    '(?=a)',
    '(?<!a)',
    '(a)\\1',
    '\\ud800',
    '\\p{Alphabetic}',
    '(?:a{40}){40}',
  ]) {
    it(`rejects ${pattern}`, () => {
      expect(() => translatePattern(pattern))
        .to.throw()
        .with.property('name', 'UntranslatablePattern');
    });
  }

  it('leaves patterns with bounded backtracking to the own engine', () => {
    for (const simple of ['^[a-z0-9_-]{1,64}$', '^\\d{4}-\\d{2}$', '^a+', '^[^@]*@x$', '^\\.$']) {
      expect(isSimplePattern(simple, 70), simple).to.equal(true);
    }
    for (const other of [
      'a+$',
      '^(a+)+$',
      '^a*a*$',
      '^a|b',
      '^a?b?',
      '^(?:a)',
      '^\\p{L}',
      '^a$b',
    ]) {
      expect(isSimplePattern(other, 70), other).to.equal(false);
    }
    expect(isSimplePattern('^.{1,255}$', 510)).to.equal(false);
  });

  it('rejects patterns that are too long, too deep or too large, and names the limit', () => {
    expect(() => translatePattern('a'.repeat(4097))).to.throw('longer than 4096 characters');
    expect(() => translatePattern(`${'('.repeat(201)}${')'.repeat(201)}`)).to.throw('200 groups');
    const large = /about \d{4,} instructions of RE2, at most 5000 are allowed/;
    expect(() => translatePattern('(?:a?b?c?){900}')).to.throw(large);
  });
});
