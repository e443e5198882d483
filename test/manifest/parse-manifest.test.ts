import { expect } from 'chai';
import type { Infer } from 'superstruct';
import type { Manifest } from '../../core/contract/index.js';
import { readStructuredText } from '../../core/document/parse-document.js';
import type { manifestStruct } from '../../core/manifest/manifest-struct.js';
import { parseManifest } from '../../core/manifest/parse-manifest.js';
import { type BadDocument, type GoodDocument, readCorpus } from '../support/documents/corpus.js';
import { diagnosticsOf, summarize } from '../support/documents/invalid-file.js';

/** Removes the differences between superstruct's types and ours: `readonly`, and `undefined` for absent. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]-?: Plain<Exclude<T[Key], undefined>> }
    : T;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

// Does not compile when the struct and the published type drift apart.
const isSame: Same<Plain<Infer<typeof manifestStruct>>, Plain<Manifest>> = true;

const good = readCorpus<GoodDocument[]>('manifests/good');
const bad = readCorpus<BadDocument[]>('manifests/bad');

const LEAST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'crm',
  capabilities: [],
  http_routes: [],
};

function parse(file: string, text: string) {
  const { value, locate } = readStructuredText(file, text);
  return parseManifest(value, { file, locate });
}

function parseValue(value: unknown) {
  return parseManifest(value, { file: 'provider of crm', locate: () => null });
}

describe('parseManifest', () => {
  it('validates with a struct of the published type', () => {
    expect(isSame).to.equal(true);
  });

  for (const { name, file, text, warnings } of good) {
    it(`accepts ${name}`, () => {
      const parsedWarnings = parse(file, text.join('\n')).warnings;
      expect(parsedWarnings.map(summarize)).to.deep.equal(warnings ?? []);
      for (const warning of parsedWarnings)
        expect(warning).to.include({ severity: 'warning', file });
    });
  }

  for (const { name, file, text, findings } of bad) {
    it(`rejects ${name}`, async () => {
      const diagnostics = await diagnosticsOf(() => parse(file, text.join('\n')));
      expect(diagnostics.map(summarize)).to.deep.equal(findings);
      for (const finding of diagnostics) expect(finding).to.include({ file, severity: 'error' });
    });
  }

  it('adds nothing to the given manifest', () => {
    expect(parseValue(LEAST).manifest).to.deep.equal(LEAST);
  });

  it('leaves out undefined members', () => {
    expect(parseValue({ ...LEAST, version: undefined }).manifest).to.have.all.keys(LEAST);
  });

  it('returns a copy, which cannot be changed later', () => {
    const input = { ...LEAST, capabilities: ['a'] };
    const { manifest } = parseValue(input);
    input.capabilities.push('b');
    expect(manifest.capabilities).to.deep.equal(['a']);
  });

  it('reports no place for a manifest without a text', async () => {
    const [finding] = await diagnosticsOf(() => parseValue({ ...LEAST, http_routes: 1 }));
    expect(finding).to.include({ file: 'provider of crm', line: null, column: null });
    expect(finding?.path).to.deep.equal(['http_routes']);
  });

  it('reports the place of an inline manifest within its file', async () => {
    const text = 'manifest:\n  inline:\n    protocol: x';
    const { locate } = readStructuredText('crm.yaml', text);
    const source = { file: 'crm.yaml', locate, prefix: ['manifest', 'inline'] };
    const diagnostics = await diagnosticsOf(() =>
      parseManifest({ ...LEAST, protocol: 'x' }, source),
    );
    expect(diagnostics[0]).to.deep.include({ path: ['manifest', 'inline', 'protocol'], line: 3 });
    expect(diagnostics[0]?.column).to.equal(15);
  });

  it('prints no route with control characters', async () => {
    const route = { method: 'GET', path: '/\u001b[2J/{', capability: 'a' };
    const diagnostics = await diagnosticsOf(() =>
      parseValue({ ...LEAST, capabilities: ['a'], http_routes: [route] }),
    );
    expect(diagnostics.map(({ message }) => message)).to.deep.equal([
      "'http_routes[0].path' is not a valid route template, or repeats another",
    ]);
  });

  const lists: readonly (readonly [name: string, part: (items: unknown[]) => object])[] = [
    ['routes', (items) => ({ http_routes: items })],
    ['configuration fields', (items) => ({ config: { fields: items } })],
    ['entities', (items) => ({ admin: { entities: items } })],
    ['actions', (items) => ({ admin: { actions: items } })],
    ['slots', (items) => ({ console_slots: items })],
    ['contributions', (items) => ({ console_contributions: items })],
  ];
  for (const [name, part] of lists) {
    it(`rejects more ${name} with errors than it reports`, async () => {
      for (const item of [{ unknown: 1 }, {}, null, 1]) {
        const items = [...Array.from({ length: 150 }, () => ({ unknown: 1 })), item];
        const diagnostics = await diagnosticsOf(() => parseValue({ ...LEAST, ...part(items) }));
        expect(diagnostics).to.have.length(100);
      }
    });
  }

  describe('created by code', () => {
    const cycle: Record<string, unknown> = {};
    cycle['a'] = cycle;
    cycle['b'] = cycle;
    const cases: readonly [name: string, value: unknown, rule: string][] = [
      ['nothing', undefined, 'not-json'],
      ['a function', () => LEAST, 'not-json'],
      ['a class', new Map(), 'not-json'],
      ['a date', { ...LEAST, summary: new Date(0) }, 'not-json'],
      ['a bigint', { ...LEAST, summary: 1n }, 'not-json'],
      ['a symbol', { ...LEAST, summary: Symbol('x') }, 'not-json'],
      ['not a number', { ...LEAST, summary: Number.NaN }, 'non-finite-number'],
      ['half of a surrogate pair', { ...LEAST, summary: '\ud800' }, 'lone-surrogate'],
      ['a key that is half of a pair', { ...LEAST, '\ud800': 1 }, 'lone-surrogate'],
      ['__proto__', JSON.parse('{"__proto__":{"protocol":"x"}}'), 'forbidden-key'],
      ['a cycle', cycle, 'too-deep'],
    ];
    for (const [name, value, rule] of cases) {
      it(`rejects ${name}`, async () => {
        const diagnostics = await diagnosticsOf(() => parseValue(value));
        expect(diagnostics.map((finding) => finding.rule)).to.include(rule);
      });
    }

    it('does not read inherited members', async () => {
      const diagnostics = await diagnosticsOf(() => parseValue(Object.create(LEAST)));
      expect(diagnostics.length).to.be.greaterThan(0);
    });
  });
});
