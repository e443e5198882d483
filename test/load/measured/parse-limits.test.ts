import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { parseStructuredText } from '../../../core/document/parse-document.js';
import { cpuMsSince } from '../../support/cpu-time.js';
import { expectViolation, violationsOf } from '../../support/documents/violations.js';
import { slowness } from '../../support/slowness.js';

const ONE_MIB = 1024 * 1024;
const LARGEST = { json: 4 * ONE_MIB, yaml: ONE_MIB } as const;
/** CPU time for one text: less than 200 ms on an idle machine, more with shared caches. */
const LONGEST_MS = 1000;

describe('parseStructuredText limits', () => {
  it('accepts at most 4 MiB of JSON and 1 MiB of YAML', () => {
    const padded = (length: number) => `"${'a'.repeat(length - 2)}"`;
    for (const format of ['json', 'yaml'] as const) {
      const length = LARGEST[format];
      expect(parseStructuredText(padded(length), format).value).to.have.length(length - 2);
      expectViolation(padded(length + 1), format, 'file-too-large', '1:1');
    }
  });

  it('accepts at most 200,000 values', () => {
    const listOf = (values: number) =>
      `[${Array(values - 1)
        .fill('1')
        .join(',')}]`;
    expect(parseStructuredText(listOf(200_000), 'json').value).to.have.length(199_999);
    expectViolation(listOf(200_001), 'json', 'too-many-values');
    expectViolation(listOf(200_001), 'yaml', 'too-many-values');
  });

  it('accepts at most 100,000 tokens of YAML', () => {
    const listOf = (values: number) => `[${'1,'.repeat(values)}]`;
    expect(parseStructuredText(listOf(33_000), 'yaml').value).to.have.length(33_000);
    expectViolation(listOf(34_000), 'yaml', 'too-many-values');
  });

  it('accepts at most 10,000 keys in a mapping', () => {
    const keys = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}": 1`).join(',');
    for (const format of ['json', 'yaml'] as const) {
      const { value } = parseStructuredText(`{${keys(10_000)}}`, format);
      expect(Object.keys(value as object)).to.have.length(10_000);
      expectViolation(`{${keys(10_001)}}`, format, 'too-many-keys');
    }
  });

  for (const format of ['json', 'yaml'] as const) {
    it(`rejects 190,000 keys of ${format} quickly`, () => {
      const keys = Array.from({ length: 190_000 }, (_, n) => `"k${n}": 1`);
      const text = `{${keys.join(',').slice(0, format === 'json' ? undefined : ONE_MIB - 10)}}`;
      const startedAt = process.cpuUsage();
      expectViolation(text, format, format === 'json' ? 'too-many-keys' : 'too-many-values');
      expect(cpuMsSince(startedAt)).to.be.lessThan(LONGEST_MS * slowness());
    });
  }

  const LONG = {
    items: '- a\n',
    keys: 'a: 1\n',
    comments: '# a\n',
    'blank lines': '\n',
    anchors: '- &a 1\n',
  };
  for (const [name, unit] of Object.entries(LONG)) {
    it(`rejects 1 MiB of ${name} quickly`, () => {
      const text = `${unit.startsWith('-') ? '' : 'b: 1\n'}${unit.repeat(ONE_MIB / unit.length - 8)}`;
      const startedAt = process.cpuUsage();
      expectViolation(text, 'yaml', 'too-many-values');
      expect(cpuMsSince(startedAt)).to.be.lessThan(LONGEST_MS * slowness());
    });
  }

  const MISTAKES = {
    'unknown escapes': `"${'\\z'.repeat(ONE_MIB / 4)}"`,
    'missing commas': `[${`${'['.repeat(90)}${']'.repeat(90)}`.repeat(540)}]`,
  };
  for (const [name, text] of Object.entries(MISTAKES)) {
    it(`rejects ${name} quickly, and keeps the stacks of other errors`, () => {
      const startedAt = process.cpuUsage();
      expectViolation(text, 'yaml', 'yaml-syntax');
      expect(cpuMsSince(startedAt)).to.be.lessThan(LONGEST_MS * slowness());
      expect(new Error('later').stack).to.include('parse-limits');
    });
  }

  const SCALARS: Readonly<Record<string, (length: number) => string>> = {
    'a plain scalar': (length) => 'a'.repeat(length),
    'a plain scalar of many lines': (length) => `a:\n ${'a\n '.repeat(length / 3 - 2)}`,
    'double quotes': (length) => `"${'a'.repeat(length - 2)}"`,
    'double quotes of blank lines': (length) => `"${'\n'.repeat(length - 2)}"`,
    'single quotes of many lines': (length) => `'${'a\n'.repeat(length / 2 - 2)}'`,
    'a literal block': (length) => `a: |\n${'  a\n'.repeat(length / 4 - 2)}`,
    'a folded block': (length) => `a: >\n${'  a\n\n'.repeat(length / 5 - 2)}`,
  };
  for (const [name, create] of Object.entries(SCALARS)) {
    it(`reads 1 MiB of ${name} quickly`, () => {
      const startedAt = process.cpuUsage();
      parseStructuredText(create(ONE_MIB), 'yaml');
      expect(cpuMsSince(startedAt)).to.be.lessThan(LONGEST_MS * slowness());
    });
  }

  it('accepts a manifest of 10,000 routes as JSON, and of 2,500 as YAML', () => {
    const route = {
      method: 'GET',
      path: '/others/{id}',
      capability: 'crm.read',
      summary: 'Reads one',
    };
    const json = JSON.stringify({ http_routes: Array(10_000).fill(route) });
    const { value } = parseStructuredText(json, 'json');
    expect(value).to.have.property('http_routes').with.length(10_000);
    const item =
      '  - method: GET\n    path: /others/{id}\n    capability: crm.read\n    summary: Reads one\n';
    const yaml = parseStructuredText(`http_routes:\n${item.repeat(2500)}`, 'yaml');
    expect(yaml.value).to.have.property('http_routes').with.length(2500);
  });

  it('rejects a billion laughs quickly', () => {
    const letters = [...'abcdefghi'];
    const lines = letters.map((letter, index) => {
      const item = index === 0 ? 'lol' : `*${letters[index - 1]}`;
      return `${letter}: &${letter} [${Array(9).fill(item).join(', ')}]`;
    });
    const startedAt = process.cpuUsage();
    expectViolation(lines.join('\n'), 'yaml', 'too-many-aliases');
    expect(cpuMsSince(startedAt)).to.be.lessThan(LONGEST_MS * slowness());
  });

  it('accepts at most 100 levels', () => {
    const tower = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    for (const format of ['json', 'yaml'] as const) {
      expect(parseStructuredText(tower(101), format).value).to.be.an('array');
      expectViolation(tower(102), format, 'too-deep');
    }
  });

  const TOWERS = {
    brackets: '['.repeat(ONE_MIB),
    mappings: '{"a":'.repeat(ONE_MIB / 8),
    items: '- '.repeat(ONE_MIB / 2),
    'explicit keys': '? '.repeat(ONE_MIB / 2),
    indentation: Array.from({ length: 1400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
    aliases: Array.from({ length: 300 }, (_, i) => `k${i}: &k${i} [${i ? `*k${i - 1}` : 1}]`).join(
      '\n',
    ),
  };
  for (const [name, text] of Object.entries(TOWERS)) {
    it(`rejects a tower of ${name} quickly`, () => {
      const startedAt = process.cpuUsage();
      expectViolation(text, 'yaml', 'too-deep');
      expect(cpuMsSince(startedAt)).to.be.lessThan(2 * LONGEST_MS * slowness());
    });
  }

  it('reports at most 100 violations', () => {
    const text = Array(500).fill('a: 1').join('\n');
    expect(violationsOf(text, 'yaml')).to.have.length(100);
  });

  for (const format of ['yaml', 'json'] as const) {
    it(`keeps only the values of a ${format} text in memory`, () => {
      setFlagsFromString('--expose-gc');
      const collect = runInNewContext('gc') as () => void;
      const space = ' '.repeat(ONE_MIB / 2);
      const values: unknown[] = [];
      const readOne = (number: number) => {
        const text = `{"a key of some length ${number}": "a value of some length ${number}"}`;
        const plain = `a key of some length ${number}: a value of some length ${number}`;
        const written = format === 'json' ? text : plain;
        values.push(parseStructuredText(`${written}\n${space}`, format).value);
      };
      readOne(0);
      collect();
      const before = process.memoryUsage().heapUsed;
      for (let number = 1; number <= 12; number += 1) readOne(number);
      collect();
      expect(values).to.have.length(13);
      expect(process.memoryUsage().heapUsed - before).to.be.below(3 * ONE_MIB);
    });
  }
});
