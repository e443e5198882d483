import { expect } from 'chai';
import fc from 'fast-check';
import { parseJsonNode } from '../../core/document/json-parser.js';
import { parseStructuredText } from '../../core/document/parse-document.js';
import { readNodeValue, type SyntaxViolation } from '../../core/document/syntax-tree.js';
import { expectViolation, violationsOf } from '../support/documents/violations.js';

const REJECTED_YAML: readonly [text: string, rule: string, place: string][] = [
  ['', 'empty-file', '1:1'],
  [' \n\n', 'empty-file', '1:1'],
  ['# a comment\n', 'empty-file', '1:1'],
  ['---\n# a comment\n...\n', 'empty-file', '1:1'],
  ['a: 1\nb: 2\na: 3', 'duplicate-key', '3:1'],
  ['a: { b: 1, "b": 2 }', 'duplicate-key', '1:12'],
  ['a: 1\n---\nb: 2', 'multiple-documents', '2:1'],
  ['a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> c', 'merge-conflict', '2:1'],
  ['a: 1\n...\nb: 2', 'multiple-documents', '3:1'],
  ['%YAML 1.2\n---\na: 1\n...\n%YAML 1.2\n---\nb: 2', 'multiple-documents', '5:1'],
  ['a: 1\n...\n%YAML 1.2\n---\nb: 2', 'multiple-documents', '3:1'],
  ['%YAML 1.2\n%YAML 1.2\n---\na: 1', 'yaml-syntax', '2:1'],
  ['a: .inf', 'non-finite-number', '1:4'],
  ['a: [.nan]', 'non-finite-number', '1:5'],
  ['a: -.INF', 'non-finite-number', '1:4'],
  ['a: 1e999', 'non-finite-number', '1:4'],
  ['a: !!js/function "x"', 'unsupported-tag', '1:4'],
  ['a: !secret x', 'unsupported-tag', '1:4'],
  ['a: !!set {x}', 'unsupported-tag', '1:4'],
  ['a: !!binary eA==', 'unsupported-tag', '1:4'],
  ['a: !!timestamp 2020-01-01', 'unsupported-tag', '1:4'],
  ['a: !!bool True', 'unsupported-tag', '1:4'],
  ['%YAML 1.1\n---\na: yes', 'yaml-version', '1:1'],
  ['%YAML 1.2\n%YAML 1.2\n---\na: 1', 'yaml-syntax', '2:1'],
  ['a: &k 1\n*k : 2', 'yaml-syntax', '2:1'],
  ['a: &k [1]\n*k : 2', 'yaml-syntax', '2:1'],
  ['<<: { a: 1 }', 'merge-key', '1:1'],
  ['a: *b', 'unknown-alias', '1:4'],
  ['a: &a [*a]', 'circular-alias', '1:8'],
  ['a: &a { b: { c: *a } }', 'circular-alias', '1:17'],
  ['a: "\\ud800"', 'lone-surrogate', '1:4'],
  ['"\\udfff": 1', 'lone-surrogate', '1:1'],
  ['__proto__: 1', 'forbidden-key', '1:1'],
  ['a:\n  "__proto__": 1', 'forbidden-key', '2:3'],
  ['? [a]\n: b', 'yaml-syntax', '1:3'],
  ['a:\n\t- b', 'yaml-syntax', '2:1'],
  ['a: [1', 'yaml-syntax', '1:6'],
  ["a: 'b", 'yaml-syntax', '1:6'],
  ['a: b: c', 'yaml-syntax', '1:4'],
  ['a: @b', 'yaml-syntax', '1:4'],
  ['a:\n  - b\n c: d', 'yaml-syntax', '3:1'],
];

const REJECTED_JSON: readonly [text: string, rule: string, place: string][] = [
  ['', 'empty-file', '1:1'],
  ['{"a":1,"a":2}', 'duplicate-key', '1:8'],
  ['{"a":1,"\\u0061":2}', 'duplicate-key', '1:8'],
  ['{"__proto__":1}', 'forbidden-key', '1:2'],
  ['{"\\u005f_proto__":1}', 'forbidden-key', '1:2'],
  ['[1e999]', 'non-finite-number', '1:2'],
  ['["\\ud800"]', 'lone-surrogate', '1:2'],
  ['{\n  "a": 1,\n}', 'json-syntax', '2:9'],
  ['[1,]', 'json-syntax', '1:3'],
  ['[1 2]', 'json-syntax', '1:4'],
  ['{"a" 1}', 'json-syntax', '1:6'],
  ["{'a': 1}", 'json-syntax', '1:2'],
  ['{"a": 1} 2', 'json-syntax', '1:10'],
  ['{"a": 01}', 'json-syntax', '1:8'],
  ['{"a": +1}', 'json-syntax', '1:7'],
  ['{"a": NaN}', 'json-syntax', '1:7'],
  ['{"a": "b', 'json-syntax', '1:7'],
  ['{"a": "\t"}', 'json-syntax', '1:7'],
  ['{"a": "\\x"}', 'json-syntax', '1:7'],
  ['{} // done', 'json-syntax', '1:4'],
  ['\u00a0{}', 'json-syntax', '1:1'],
];

/** Texts of JSON with repeated keys, escapes, spaces and everything that only the host rejects. */
const jsonText = fc.letrec<{ value: string; list: string; mapping: string }>((tie) => {
  const space = fc.constantFrom('', ' ', '\n\t', '\r');
  const text = fc.constantFrom(
    'a',
    'b',
    ':',
    '\\u0061',
    '\\\\',
    '\\"',
    '\\\\\\"',
    '😁',
    '\\ud800',
    '__proto__',
  );
  const string = fc.array(text, { maxLength: 2 }).map((parts) => `"${parts.join('')}"`);
  const scalar = fc.oneof(string, fc.constantFrom('1', '-0', '1.5e3', '1e999', 'true', 'null'));
  const member = fc.tuple(space, string, space, tie('value')).map(([a, key, b, value]) => {
    return `${a}${key}${b}:${b}${value}${a}`;
  });
  return {
    value: fc.oneof({ maxDepth: 3 }, scalar, tie('list'), tie('mapping')),
    list: fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
    mapping: fc.array(member, { maxLength: 3 }).map((members) => `{${members}}`),
  };
}).value;

describe('parseStructuredText', () => {
  for (const [text, rule, place] of REJECTED_YAML) {
    it(`rejects the YAML ${JSON.stringify(text)}: ${rule}`, () => {
      expectViolation(text, 'yaml', rule, place);
    });
  }

  for (const [text, rule, place] of REJECTED_JSON) {
    it(`rejects the JSON ${JSON.stringify(text)}: ${rule}`, () => {
      expectViolation(text, 'json', rule, place);
    });
  }

  it('ignores a byte-order mark at the start, which no place counts', () => {
    for (const [text, format] of [
      ['\uFEFF{"a": 1}', 'json'],
      ['\uFEFFa: 1\n', 'yaml'],
    ] as const) {
      const { value, locate } = parseStructuredText(text, format);
      expect(value).to.deep.equal({ a: 1 });
      expect(locate(['a'], 'key')).to.include({ line: 1, column: format === 'json' ? 2 : 1 });
      expect(() => parseStructuredText(`\uFEFF${text}`, 'json')).to.throw();
    }
  });

  it('accepts only true and false as booleans', () => {
    const { value } = parseStructuredText('[true, false, True, FALSE, yes, on, "true"]', 'yaml');
    expect(value).to.deep.equal([true, false, 'True', 'FALSE', 'yes', 'on', 'true']);
  });

  it('reads the core schema of YAML 1.2', () => {
    const { value } = parseStructuredText(
      '[null, ~, 0o17, 0x1F, 1_0, 2020-01-01, 1e3, !!str 12, "a\\nb"]',
      'yaml',
    );
    expect(value).to.deep.equal([null, null, 15, 31, '1_0', '2020-01-01', 1000, '12', 'a\nb']);
  });

  it('expands an alias to the last anchor before it', () => {
    const { value } = parseStructuredText('[&a 1, &b [*a], &a 2, *a, *b]', 'yaml');
    expect(value).to.deep.equal([1, [1], 2, 2, [1]]);
  });

  it('returns a separate copy for each alias', () => {
    const { value } = parseStructuredText('[&a [1], *a]', 'yaml');
    const [first, second] = value as unknown[];
    expect(first).to.deep.equal(second);
    expect(first).not.to.equal(second);
  });

  it('reads a merge key in quotes as an ordinary key', () => {
    expect(parseStructuredText('"<<": 1', 'yaml').value).to.deep.equal({ '<<': 1 });
  });

  it('reads keys of the prototype as ordinary keys', () => {
    const { value } = parseStructuredText('constructor: 1\ntoString: 2', 'yaml');
    expect(Object.keys(value as object)).to.deep.equal(['constructor', 'toString']);
    expect(`${value}`).to.equal('');
  });

  const ANCHORS: readonly [name: string, text: string, value: unknown][] = [
    ['an anchor with a colon', '&a: key: &a value\nfoo:\n  *a:\n', { key: 'value', foo: 'key' }],
    ['an anchor of an emoji', 'a: &😁 1\nb: *😁', { a: 1, b: 1 }],
    ['an alias as an implicit key', 'a: &k x\n*k : 1', { a: 'x', x: 1 }],
    ['an alias as an explicit key', 'a: &k x\n? *k\n: 1', { a: 'x', x: 1 }],
    ['an alias as a value after a property', '&a a: &b b\nc: *a', { a: 'b', c: 'a' }],
  ];
  for (const [name, text, value] of ANCHORS) {
    it(`reads ${name}`, () => {
      expect(parseStructuredText(text, 'yaml').value).to.deep.equal(value);
    });
  }

  it('quotes nothing of the text', () => {
    for (const text of ['a: "CANARY', 'a: !CANARY x', 'a: *CANARY', '[CANARY', 'a: b: CANARY']) {
      const [violation] = violationsOf(text, 'yaml');
      expect(JSON.stringify(violation)).not.to.contain('CANARY');
    }
  });

  it('reads as a value what the tree with positions holds, and rejects the same texts', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const violations: SyntaxViolation[] = [];
        const root = parseJsonNode(text, violations);
        if (violations.length > 0) expect(violationsOf(text, 'json')).to.have.lengthOf.above(0);
        else expect(parseStructuredText(text, 'json').value).to.deep.equal(readNodeValue(root));
      }),
    );
  });

  it('rejects JSON beyond a limit', () => {
    const list = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const keys = (count: number) =>
      `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join()}}`;
    const values = (count: number) => `[${Array(count - 1).fill(0)}]`;
    for (const [write, most, rule] of [
      [list, 101, 'too-deep'],
      [keys, 10_000, 'too-many-keys'],
      [values, 200_000, 'too-many-values'],
    ] as const) {
      expect(() => parseStructuredText(write(most), 'json')).not.to.throw();
      expect(violationsOf(write(most + 1), 'json')).to.have.nested.property('[0].rule', rule);
    }
  });

  it('makes mappings of JSON safe to convert to text', () => {
    const { value } = parseStructuredText('[{"toString":1},{"valueOf":1}]', 'json');
    expect(`${value}`).to.equal(',');
  });

  describe('locate', () => {
    const yaml = parseStructuredText('a:\n  - b: 1\n  - &x { c: [2,\r\n    3] }\nd: *x\n', 'yaml');
    const json = parseStructuredText('{\n  "a": [ { "b": 1 },\n    2 ]\n}', 'json');
    const cases: readonly [typeof yaml, (string | number)[], 'key' | 'value', string][] = [
      [yaml, [], 'value', '1:1'],
      [yaml, ['a'], 'key', '1:1'],
      [yaml, ['a'], 'value', '2:3'],
      [yaml, ['a', 0, 'b'], 'key', '2:5'],
      [yaml, ['a', 0, 'b'], 'value', '2:8'],
      [yaml, ['a', 1, 'c', 1], 'value', '4:5'],
      [yaml, ['d', 'c', 0], 'value', '3:14'],
      [yaml, ['a', 7], 'value', '1:1'],
      [yaml, ['a', 0, 'zzz', 'y'], 'value', '2:5'],
      [json, ['a', 0], 'value', '2:10'],
      [json, ['a', 0, 'b'], 'key', '2:12'],
      [json, ['a', 1], 'value', '3:5'],
    ];
    for (const [text, path, at, place] of cases) {
      it(`finds the ${at} of ${JSON.stringify(path)} at ${place}`, () => {
        const { line, column } = text.locate(path, at);
        expect(`${line}:${column}`).to.equal(place);
      });
    }
  });

  describe('compared with JSON.parse', () => {
    const options = { noUnicodeString: false, maxDepth: 6 } as const;
    const isPlain = (value: unknown) => !/"__proto__"/.test(JSON.stringify(value));

    it('reads the same JSON', () => {
      fc.assert(
        fc.property(fc.jsonValue(options).filter(isPlain), fc.nat(4), (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          if (!isWellFormed(text)) return;
          expect(parseStructuredText(text, 'json').value).to.deep.equal(JSON.parse(text));
        }),
      );
    });

    it('reads the same JSON as YAML', () => {
      fc.assert(
        fc.property(fc.jsonValue({ maxDepth: 6 }).filter(isPlain), (value) => {
          const text = JSON.stringify(value, null, 2);
          expect(parseStructuredText(text, 'yaml').value).to.deep.equal(JSON.parse(text));
        }),
      );
    });

    it('rejects what JSON.parse rejects', () => {
      const pieces = [
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"a"',
        '1',
        '-',
        '.5',
        'e1',
        'true',
        ' ',
        '\\',
        '"',
      ];
      fc.assert(
        fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (parts) => {
          // Too short to repeat a name, which JSON.parse accepts.
          const text = parts.join('');
          expect(isAccepted(() => parseStructuredText(text, 'json'))).to.equal(
            isAccepted(() => JSON.parse(text)),
          );
        }),
        { numRuns: 2000 },
      );
    });
  });
});

function isWellFormed(text: string): boolean {
  return !/\\ud[89a-f]/i.test(text);
}

function isAccepted(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
