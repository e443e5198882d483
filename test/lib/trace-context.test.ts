import { expect } from 'chai';
import { isValidTracestate } from '../../core/lib/trace-context.js';

const LONGEST = 'a'.repeat(256);

const repeatMember = (count: number) =>
  Array.from({ length: count }, (_, index) => `key${index}=1`).join(',');

describe('tracestate', () => {
  for (const [title, header] of [
    ['several members', 'foo=1,bar=2'],
    ['white space around members', 'foo=1 \t,\t bar=2'],
    ['empty members', ',foo=1,,'],
    ['an empty header', ''],
    ['a key that starts with a digit', '1a-2f@foo=1'],
    ['a key of 256 characters', `${LONGEST}=1`],
    ['a value of 256 characters', `foo=${LONGEST}`],
    ['a value with a space inside', 'foo=a b'],
    ['32 members', repeatMember(32)],
  ] as const) {
    it(`is valid with ${title}`, () => {
      expect(isValidTracestate(header)).to.equal(true);
    });
  }

  for (const [title, header] of [
    ['a space before the equals sign', 'foo =1'],
    ['an upper-case key', 'FOO=1'],
    ['a key that starts with @', '@foo=1,bar=2'],
    ['a key of 257 characters', `${LONGEST}a=1`],
    ['a value of 257 characters', `foo=${LONGEST}a`],
    ['an equals sign in a value', 'foo=bar=baz'],
    ['an empty value', 'foo='],
    ['no value', 'foo'],
    ['no key', '=1'],
    ['a character outside ASCII', 'foo=\u00e9'],
    ['a tab inside a value', 'foo=a\tb'],
    ['33 members', repeatMember(33)],
  ] as const) {
    it(`is invalid with ${title}`, () => {
      expect(isValidTracestate(header)).to.equal(false);
    });
  }
});
