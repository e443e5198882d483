import { expect } from 'chai';
import type { JsonSchema } from '../../core/contract/index.js';
import { InvalidFile } from '../../core/document/diagnostic.js';
import { parseManifest } from '../../core/manifest/parse-manifest.js';
import { SchemaRegistry } from '../../core/schema/compile-schema.js';
import { FULL_CHECK } from '../../core/schema/run.js';

type Schemas = Readonly<Record<string, JsonSchema>>;

const refer = (name: string) => ({ $ref: `manifest:schemas/${name}` });

/** `rule place` of each error of a manifest with these shared schemas, and these schemas of routes. */
function findErrors(schemas: unknown, routes: readonly unknown[] = []): string[] {
  const manifest = {
    protocol: 'modgate.manifest.v1',
    module_id: 'shop',
    capabilities: ['shop.use'],
    schemas,
    http_routes: routes.map((input_schema, index) => ({
      method: 'POST',
      path: `/${index}`,
      capability: 'shop.use',
      operation: { input_schema },
    })),
  };
  try {
    parseManifest(manifest, { file: 'shop.json', locate: () => null });
    return [];
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    return error.diagnostics.map(({ rule, path }) => `${rule} ${path.join('/')}`);
  }
}

/** About this many bytes in canonical form. */
function ofBytes(bytes: number): JsonSchema {
  return { description: 'a'.repeat(bytes) };
}

/** Patterns of more than half of the instructions that a schema may have. */
function withPatterns(letter: string): JsonSchema {
  const patterns = Array.from({ length: 7 }, (_, index) => `^${letter}{${900 + index}}$`);
  return { anyOf: patterns.map((pattern) => ({ pattern })) };
}

function chain(length: number, link: (next: string) => JsonSchema): Schemas {
  return Object.fromEntries(
    Array.from({ length }, (_, index) => {
      return [`s${index}`, index === length - 1 ? { type: 'string' } : link(`s${index + 1}`)];
    }),
  );
}

const AT_ROUTE = 'http_routes/0/operation/input_schema';

type Row = readonly [name: string, schemas: unknown, routes: unknown[], errors: string[]];

const ROWS: readonly Row[] = [
  ['a schema that a route refers to', { Item: { type: 'object' } }, [refer('Item')], []],
  ['true and false', { Any: true, None: false }, [refer('Any'), { not: refer('None') }], []],
  ['names such as constructor', { constructor: {}, toString: {} }, [refer('toString')], []],
  [
    'schemas that recur through one another',
    { Tree: { properties: { children: { items: refer('Node') } } }, Node: refer('Tree') },
    [refer('Node')],
    [],
  ],
  [
    'its own references beside shared ones',
    { Item: { $defs: { name: { type: 'string' } }, properties: { a: { $ref: '#/$defs/name' } } } },
    [{ $defs: { item: refer('Item') }, items: { $ref: '#/$defs/item' } }],
    [],
  ],
  [
    'a name that nothing has',
    { Item: refer('Other') },
    [refer('toString')],
    ['unresolved-reference schemas/Item/$ref', `unresolved-reference ${AT_ROUTE}/$ref`],
  ],
  ['a reference to __proto__', {}, [refer('__proto__')], [`unresolved-reference ${AT_ROUTE}/$ref`]],
  ['another document', {}, [{ $ref: 'manifest:x' }], [`remote-reference ${AT_ROUTE}/$ref`]],
  ['a part of a shared schema', {}, [refer('a/b')], [`remote-reference ${AT_ROUTE}/$ref`]],
  ['a name with a space', { 'a b': {} }, [], ['invalid-value schemas/a b']],
  ['no schema', { a: 'object' }, [], ['invalid-value schemas/a']],
  ['an invalid keyword', { a: { type: 'text' } }, [refer('a')], ['invalid-schema schemas/a/type']],
  [
    'a circle that does not descend',
    { a: { allOf: [refer('b')] }, b: refer('a') },
    [refer('a')],
    ['circular-reference schemas/a/allOf/0/$ref', 'circular-reference schemas/b/$ref'],
  ],
  [
    'the same recursion in two branches',
    { a: { anyOf: [refer('b'), { items: refer('b') }] }, b: { items: refer('a') } },
    [],
    ['branching-recursion schemas/a/anyOf'],
  ],
  [
    'schemas that are too large together',
    { a: ofBytes(40_000), b: ofBytes(30_000) },
    [refer('a'), { anyOf: [refer('a'), refer('b')] }, refer('b')],
    ['schema-too-large http_routes/1/operation/input_schema'],
  ],
  [
    'one that is too large with what it reaches',
    { a: { allOf: [ofBytes(40_000), refer('b')] }, b: ofBytes(30_000) },
    [refer('a'), refer('b')],
    ['schema-too-large schemas/a'],
  ],
  [
    'one that is referred to many times',
    { a: ofBytes(40_000) },
    [{ prefixItems: Array.from({ length: 100 }, () => refer('a')) }],
    [],
  ],
  [
    'patterns of too many instructions together',
    { a: withPatterns('a'), b: withPatterns('b') },
    [refer('a'), { allOf: [refer('a'), refer('b')] }],
    ['untranslatable-pattern http_routes/1/operation/input_schema'],
  ],
  ['a chain of a thousand', chain(1000, refer), [refer('s0')], []],
];

describe('shared schemas of a manifest', () => {
  for (const [name, schemas, routes, errors] of ROWS) {
    it(`are ${errors.length === 0 ? 'valid' : 'rejected'} with ${name}`, () => {
      expect(findErrors(schemas, routes)).to.have.members(errors);
    });
  }

  it('cannot be named __proto__', () => {
    expect(findErrors(JSON.parse('{"__proto__": {}}'))).to.deep.equal(['forbidden-key schemas']);
  });

  describe('in a registry', () => {
    const check = (schemas: Schemas, schema: JsonSchema, value: unknown, limits = FULL_CHECK) =>
      new SchemaRegistry(schemas).compile(schema).findViolations(value, limits);

    it('have their own root for references', () => {
      const Item = { $defs: { name: { type: 'string' } }, items: { $ref: '#/$defs/name' } };
      const schema = { $defs: { name: { type: 'integer' } }, ...{ properties: { a: refer('I') } } };
      expect(check({ I: Item }, schema, { a: ['text'] })).to.deep.equal([]);
      const [violation] = check({ I: Item }, schema, { a: [1] });
      expect(violation).to.deep.equal({ pointer: '/a/0', reason: 'expected string' });
    });

    it('recur through one another', () => {
      const schemas = {
        Tree: { required: ['id'], properties: { next: refer('Node') } },
        Node: { allOf: [refer('Tree')] },
      };
      const violations = check(schemas, refer('Tree'), { id: 1, next: { id: 2, next: {} } });
      expect(violations.map(({ pointer }) => pointer)).to.deep.equal(['/next/next/id']);
    });

    it('end at the limits where references multiply at each step', () => {
      const schemas = chain(60, (next) => ({ allOf: [refer(next), refer(next)] }));
      expect(findErrors(schemas, [refer('s0')])).to.deep.equal([]);
      const [violation] = check(schemas, refer('s0'), 'text');
      expect(violation?.reason).to.equal('too large for its schema to check');
    });

    it('are compiled once for all schemas that refer to them', () => {
      const registry = new SchemaRegistry({ Item: { type: 'object' } });
      const scope = { root: registry.shared['Item'], shared: registry.shared };
      registry.compile({ items: refer('Item') }).findViolations([{}]);
      const checkers = registry.checkersOf(scope);
      registry.compile({ properties: { a: refer('Item') } }).findViolations({ a: {} });
      expect(registry.checkersOf(scope)).to.equal(checkers);
    });

    it('cost what distinct schemas cost, not that of each route', () => {
      const parts = Array.from({ length: 50 }, (_, index) => [`f${index}`, { maxLength: index }]);
      const Item = { properties: Object.fromEntries(parts) };
      const value = Object.fromEntries(parts.map(([name]) => [name, '']));
      const countCompiled = (routes: number) => {
        const registry = new SchemaRegistry({ Item, Page: { items: refer('Item') } });
        for (let route = 0; route < routes; route += 1) {
          expect(registry.compile(refer('Item')).findViolations(value)).to.deep.equal([]);
          expect(registry.compile(refer('Page')).findViolations([value])).to.deep.equal([]);
          const ownSchema = { type: 'array', items: refer('Item') };
          expect(registry.compile(ownSchema).findViolations([value])).to.deep.equal([]);
        }
        return registry.compiledCount;
      };
      // The item with its fields, the page, and one list of each route.
      expect(countCompiled(1)).to.equal(51 + 1 + 1);
      expect(countCompiled(200)).to.equal(51 + 1 + 200);
    });

    it('are listed for another thread as far as a schema reaches them', () => {
      const schemas = { a: refer('b'), b: { items: refer('a') }, c: true };
      const registry = new SchemaRegistry(schemas);
      expect(registry.listReached(refer('a'))).to.have.all.keys('a', 'b');
    });
  });
});
