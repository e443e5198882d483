import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { JsonSchema } from '../contract/index.js';
import { type Checker, type CheckerSource, type Matcher, violates } from './checker.js';
import { CheckTooCostly, ROOT, Run, type SchemaViolation } from './run.js';
import { createSchemaGraph, findCircles, resolveReference } from './schema-graph.js';
import { isSimplePattern } from './simple-pattern.js';
import { SubschemaChecker } from './subschema-checker.js';
import { isSchemaObject } from './subschema-keywords.js';
import { translatePattern } from './translate-pattern.js';

/** A schema that is ready to check values. */
export interface CompiledSchema {
  /** What violates the schema: none for a valid value, otherwise 1 to 20. */
  findViolations(value: unknown): readonly SchemaViolation[];
}

const TOO_COSTLY: SchemaViolation = { pointer: '', reason: 'too large for its schema to check' };
const TOO_DEEP: SchemaViolation = {
  pointer: '',
  reason: 'nested too deeply for its schema to check',
};

/**
 * Compiles a schema without problems. Subschemas and patterns are compiled at their first use, so this is quick
 * however large the schema is.
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const root = new SchemaCheckers(schema).checkerOf(schema);
  return { findViolations: (value) => findViolations(root, value) };
}

function findViolations(root: Checker, value: unknown): readonly SchemaViolation[] {
  try {
    if (root.check(value, new Run(), null, null)) return [];
    // Most values are valid: places are only followed for those that are not.
    const run = new Run();
    root.check(value, run, ROOT, null);
    return run.violations;
  } catch (error) {
    if (error instanceof CheckTooCostly) return [TOO_COSTLY];
    // A chain of references at each of a thousand levels needs more stack than there is.
    if (error instanceof RangeError) return [TOO_DEEP];
    throw error;
  }
}

const ANYTHING: Checker = { check: () => true, acceptsKind: () => true };
const NOTHING: Checker = {
  check: (_value, run, at) => violates(run, at, 'unexpected'),
  acceptsKind: () => false,
};

/** The checkers of all subschemas of a schema. */
class SchemaCheckers implements CheckerSource {
  readonly #root: JsonSchema;
  readonly #checkers = new Map<object, Checker>();
  readonly #matchers = new Map<string, Matcher>();
  readonly #recursive: ReadonlySet<object>;

  constructor(root: JsonSchema) {
    this.#root = root;
    this.#recursive = typeof root === 'boolean' ? new Set() : findRecursive(root);
  }

  checkerOf(schema: unknown): Checker {
    if (!isSchemaObject(schema)) return schema === false ? NOTHING : ANYTHING;
    const known = this.#checkers.get(schema);
    if (known !== undefined) return known;
    // A schema that only refers to another one is that one.
    const target = isReference(schema) ? resolveReference(this.#root, schema['$ref']) : null;
    const checker =
      target === null
        ? new SubschemaChecker(schema, this, this.#recursive.has(schema))
        : this.checkerOf(target.value);
    this.#checkers.set(schema, checker);
    return checker;
  }

  checkerAt(reference: string): Checker {
    const target = resolveReference(this.#root, reference);
    if (target === null) throw new Error('a reference of the schema leads nowhere');
    return this.checkerOf(target.value);
  }

  matcherOf(pattern: string): Matcher {
    const known = this.#matchers.get(pattern) ?? createMatcher(pattern);
    this.#matchers.set(pattern, known);
    return known;
  }
}

function isReference(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(schema).every((key) => key === '$ref') && schema['$ref'] !== undefined;
}

function findRecursive(root: Readonly<Record<string, unknown>>): ReadonlySet<object> {
  const circles = findCircles(createSchemaGraph(root), ({ appliesTo }) => appliesTo !== 'nothing');
  return new Set([...circles.keys()].map(({ schema }) => schema));
}

/** Few schemas have patterns, and the engine needs 10 ms to load. */
function loadEngine(): typeof RE2JS {
  return (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
}

function createMatcher(pattern: string): Matcher {
  const { source, size } = translatePattern(pattern);
  if (isSimplePattern(pattern, size)) {
    const own = new RegExp(pattern, 'u');
    return {
      test: (text, run) => {
        run.spendOnPattern(text.length, size);
        return own.test(text);
      },
    };
  }
  let engine: RE2JS | null = null;
  return {
    test: (text, run) => {
      run.spendOnPattern(text.length, size);
      engine ??= loadEngine().compile(source);
      return engine.test(text);
    },
  };
}
