import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import type { JsonSchema } from '../contract/index.js';
import { type Checker, type CheckerSource, type Matcher, violates } from './checker.js';
import {
  type CheckLimits,
  CheckTooCostly,
  FULL_CHECK,
  ROOT,
  Run,
  type SchemaViolation,
} from './run.js';
import { createSchemaGraph, findCircles } from './schema-graph.js';
import { resolveReference, type SchemaScope, type SharedSchemas } from './shared-schemas.js';
import { isSimplePattern } from './simple-pattern.js';
import { SubschemaChecker } from './subschema-checker.js';
import { isSchemaObject } from './subschema-keywords.js';
import { translatePattern } from './translate-pattern.js';

/** A schema that is ready to check values. */
export interface CompiledSchema {
  /**
   * The violations of the schema: none for a valid value, otherwise 1 to 20. A value whose check
   * exceeds the full limits violates it.
   * @param limits default the full ones
   * @throws CheckTooCostly beyond lower limits: the value must be checked elsewhere.
   */
  findViolations(value: unknown, limits?: CheckLimits): readonly SchemaViolation[];
}

export const TOO_COSTLY: SchemaViolation = {
  pointer: '',
  reason: 'too large for its schema to check',
};
const TOO_DEEP: SchemaViolation = {
  pointer: '',
  reason: 'nested too deeply for its schema to check',
};

/** Compiles the schemas of one manifest: each shared schema and each pattern is compiled once. */
export class SchemaRegistry {
  readonly shared: SharedSchemas;
  readonly #checkers = new Map<unknown, SchemaCheckers>();
  readonly #matchers = new Map<string, Matcher>();
  /** The roots whose recursive parts are known. */
  readonly #analyzed = new Set<object>();
  readonly #recursive = new Set<object>();
  #compiledCount = 0;

  constructor(shared: SharedSchemas) {
    this.shared = shared;
  }

  /**
   * The number of compiled subschemas: those of a shared schema count once, regardless of the
   * number of routes that refer to it.
   */
  get compiledCount(): number {
    return this.#compiledCount;
  }

  /**
   * Compiles a schema without problems. Subschemas and patterns are compiled at first use, so this
   * is fast regardless of the size of the schema.
   */
  compile(schema: JsonSchema): CompiledSchema {
    this.#analyze(schema);
    const root = this.checkersOf({ root: schema, shared: this.shared }).checkerOf(schema);
    return {
      findViolations: (value, limits = FULL_CHECK) => findViolations(root, value, limits),
    };
  }

  listReached(schema: JsonSchema): SharedSchemas {
    if (typeof schema === 'boolean') return {};
    const { nodes } = createSchemaGraph([{ schema, path: [] }], this.shared, () => true);
    const names = new Set(nodes.flatMap(({ sharedName }) => sharedName ?? []));
    const sharedNames = [...names].filter((name) => Object.hasOwn(this.shared, name));
    return Object.fromEntries(sharedNames.map((name) => [name, this.shared[name] as JsonSchema]));
  }

  checkersOf(scope: SchemaScope): SchemaCheckers {
    const existing = this.#checkers.get(scope.root);
    if (existing !== undefined) return existing;
    const created = new SchemaCheckers(scope, this);
    this.#checkers.set(scope.root, created);
    return created;
  }

  compileSubschema(schema: Readonly<Record<string, unknown>>, source: CheckerSource): Checker {
    this.#compiledCount += 1;
    return new SubschemaChecker(schema, source, this.#recursive.has(schema));
  }

  matcherOf(pattern: string): Matcher {
    const matcher = this.#matchers.get(pattern) ?? createMatcher(pattern);
    this.#matchers.set(pattern, matcher);
    return matcher;
  }

  /** Skips analyzed schemas, which lead to no new ones, so that no circle leads through both. */
  #analyze(schema: JsonSchema): void {
    if (typeof schema === 'boolean' || this.#analyzed.has(schema)) return;
    const isNew = (root: object) => !this.#analyzed.has(root);
    const graph = createSchemaGraph([{ schema, path: [] }], this.shared, isNew);
    const circles = findCircles(graph, ({ appliesTo }) => appliesTo !== 'nothing');
    for (const node of circles.keys()) this.#recursive.add(node.schema);
    for (const { root } of graph.nodes) this.#analyzed.add(root);
  }
}

function findViolations(
  root: Checker,
  value: unknown,
  limits: CheckLimits,
): readonly SchemaViolation[] {
  try {
    if (root.check(value, new Run(limits), null, null)) return [];
    // Places are only tracked for invalid values, which are rare.
    const run = new Run(limits);
    root.check(value, run, ROOT, null);
    return run.violations;
  } catch (error) {
    if (error instanceof CheckTooCostly && limits === FULL_CHECK) return [TOO_COSTLY];
    // A chain of references at each of a thousand levels needs more than the available stack.
    if (error instanceof RangeError) return [TOO_DEEP];
    throw error;
  }
}

/** Compiling an instruction of a pattern costs as much as visiting this number of parts. */
const COST_OF_INSTRUCTION = 64;

const ANYTHING: Checker = { check: () => true, acceptsKind: () => true };
const NOTHING: Checker = {
  check: (_value, run, place) => violates(run, place, 'unexpected'),
  acceptsKind: () => false,
};

class SchemaCheckers implements CheckerSource {
  readonly #scope: SchemaScope;
  readonly #registry: SchemaRegistry;
  readonly #checkers = new Map<object, Checker>();

  constructor(scope: SchemaScope, registry: SchemaRegistry) {
    this.#scope = scope;
    this.#registry = registry;
  }

  checkerOf(schema: unknown): Checker {
    if (!isSchemaObject(schema)) return schema === false ? NOTHING : ANYTHING;
    const existing = this.#checkers.get(schema);
    if (existing !== undefined) return existing;
    // A schema that only refers to another one is replaced by it.
    const checker =
      (isReference(schema) ? this.#follow(schema['$ref']) : null) ??
      this.#registry.compileSubschema(schema, this);
    this.#checkers.set(schema, checker);
    return checker;
  }

  checkerAt(reference: string): Checker {
    const checker = this.#follow(reference);
    if (checker === null) throw new Error('a reference of the schema leads nowhere');
    return checker;
  }

  matcherOf(pattern: string): Matcher {
    return this.#registry.matcherOf(pattern);
  }

  #follow(reference: unknown): Checker | null {
    const target = resolveReference(this.#scope, reference);
    if (target === null) return null;
    return this.#registry.checkersOf(target.scope).checkerOf(target.value);
  }
}

function isReference(schema: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(schema).every((key) => key === '$ref') && schema['$ref'] !== undefined;
}

/** Loaded on demand: few schemas have patterns, and the engine needs 10 ms to load. */
function loadEngine(): typeof RE2JS {
  return (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
}

function createMatcher(pattern: string): Matcher {
  const { source, size } = translatePattern(pattern);
  if (isSimplePattern(pattern, size)) {
    const expression = new RegExp(pattern, 'u');
    return {
      test: (text, run) => {
        run.spendOnPattern(text.length, size);
        return expression.test(text);
      },
    };
  }
  let engine: RE2JS | null = null;
  return {
    test: (text, run) => {
      run.spendOnPattern(text.length, size);
      if (engine === null) run.look(size * COST_OF_INSTRUCTION);
      engine ??= loadEngine().compile(source);
      return engine.test(text);
    },
  };
}
