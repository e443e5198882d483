import { canonicalizeValue } from '../contract/canonical-value.js';
import type { JsonSchema } from '../contract/index.js';
import { isDeeper } from '../lib/json/is-deeper.js';
import type { JsonPath } from '../lib/json/json-pointer.js';
import { parseReference } from '../lib/json/json-pointer.js';
import { findShapeProblem } from './keyword-shapes.js';
import { UntranslatablePattern } from './pattern-reader.js';
import {
  countExpanded,
  createSchemaGraph,
  findCircles,
  type SchemaGraph,
  type SchemaNode,
  type SchemaRoot,
} from './schema-graph.js';
import {
  readSharedName,
  resolveReference,
  type SchemaScope,
  type SharedSchemas,
} from './shared-schemas.js';
import { isSchemaObject } from './subschema-keywords.js';
import { translatePattern } from './translate-pattern.js';

/** A problem of a schema. The message continues the name of the place. */
interface SchemaProblem {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
  readonly path: JsonPath;
}

const MAX_BYTES = 65_536;
export const MAX_DEPTH = 32;
const MAX_SUBSCHEMAS = 10_000;
/**
 * The maximum size of all different patterns of a schema together: they are compiled at the first
 * request.
 */
const MAX_PATTERN_SIZE = 20_000;
const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** Applicators whose branches all visit the same value. */
const BRANCHES: readonly (readonly string[])[] = [
  ['allOf'],
  ['anyOf'],
  ['oneOf'],
  ['if', 'then', 'else'],
];

/** The measures of a schema that are limited. */
interface SchemaSize {
  readonly bytes: number;
  readonly subschemas: number;
  /** The size of its patterns in instructions, by pattern. */
  readonly patterns: ReadonlyMap<string, number>;
  /** The shared schemas that it refers to. */
  readonly names: readonly string[];
}

interface CheckedSchema {
  readonly problems: readonly SchemaProblem[];
  /** `null` for a schema that itself exceeds a bound. */
  readonly size: SchemaSize | null;
}

/**
 * The rules for schemas of one manifest. The measures of shared schemas are computed once,
 * regardless of the number of references.
 */
export class SchemaRules {
  readonly #shared: SharedSchemas;
  readonly #sizes = new Map<string, SchemaSize | null>();
  readonly #problems: SchemaProblem[] = [];
  readonly #exceeding = new Map<string, boolean>();

  constructor(shared: SharedSchemas) {
    this.#shared = shared;
    const roots: SchemaRoot[] = [];
    for (const [name, schema] of Object.entries(shared)) {
      const { problems, size } = checkOne(schema, [name], shared);
      this.#problems.push(...problems);
      this.#sizes.set(name, size);
      if (size !== null && isSchemaObject(schema)) roots.push({ schema, path: [name] });
    }
    const graph = createSchemaGraph(roots, shared, () => false);
    this.#problems.push(...findCircularReferences(graph), ...findBranchingRecursion(graph));
  }

  /** Finds all problems of shared schemas; paths start with their name. */
  findShared(): SchemaProblem[] {
    const exceeding = [...this.#sizes].flatMap(([name, size]): SchemaProblem[] => {
      const problem = size === null ? null : this.#findExcess(size);
      this.#exceeding.set(name, size === null || problem !== null);
      return problem === null ? [] : [{ ...problem, path: [name] }];
    });
    return [...this.#problems, ...exceeding];
  }

  /** Finds all problems of a schema that refers to the shared ones. */
  find(schema: JsonSchema): SchemaProblem[] {
    if (typeof schema === 'boolean') return [];
    const { problems, size } = checkOne(schema, [], this.#shared);
    if (size === null) return [...problems];
    const graph = createSchemaGraph([{ schema, path: [] }], this.#shared, () => false);
    const excess = this.#findExcess(size);
    // A schema that refers to one beyond a bound also exceeds it: the problem is reported there.
    const isCaused = size.names.some((name) => this.exceeds(name));
    return [
      ...problems,
      ...findCircularReferences(graph),
      ...findBranchingRecursion(graph),
      ...(excess === null || isCaused ? [] : [{ ...excess, path: [] }]),
    ];
  }

  /** Whether a shared schema exceeds a bound, itself or with the schemas that it reaches. */
  exceeds(name: string): boolean {
    const cached = this.#exceeding.get(name);
    if (cached !== undefined) return cached;
    const size = this.#sizes.get(name);
    const exceeds = size === null || (size !== undefined && this.#findExcess(size) !== null);
    this.#exceeding.set(name, exceeds);
    return exceeds;
  }

  /**
   * Adds reached schemas until a bound is exceeded, so that the cost does not grow with the
   * manifest.
   */
  #findExcess(size: SchemaSize): Omit<SchemaProblem, 'path'> | null {
    const reached = new Set(size.names);
    const patterns = new Map(size.patterns);
    let { bytes, subschemas } = size;
    // The set grows during the loop. Circles end, because a set contains each name once.
    for (const name of reached) {
      const size = this.#sizes.get(name);
      if (!size) continue;
      bytes += size.bytes;
      subschemas += size.subschemas;
      for (const [pattern, instructions] of size.patterns) patterns.set(pattern, instructions);
      for (const next of size.names) reached.add(next);
      if (bytes > MAX_BYTES || subschemas > MAX_SUBSCHEMAS) break;
    }
    const together = reached.size === 0 ? '' : ', with the shared schemas that it reaches';
    if (bytes > MAX_BYTES) {
      const message = `must be at most ${MAX_BYTES} bytes in canonical form${together}`;
      return { rule: 'schema-too-large', message, hint: null };
    }
    if (subschemas > MAX_SUBSCHEMAS) {
      const message = `must have at most ${MAX_SUBSCHEMAS} subschemas, with references expanded${together}`;
      return { rule: 'too-many-subschemas', message, hint: null };
    }
    const total = [...patterns.values()].reduce((sum, size) => sum + size, 0);
    if (total <= MAX_PATTERN_SIZE) return null;
    const message = `has patterns of ${total} RE2 instructions together${together}: at most ${MAX_PATTERN_SIZE}`;
    return { rule: 'untranslatable-pattern', message, hint: PATTERN_HINT };
  }
}

const BOOLEAN_SIZE: SchemaSize = { bytes: 5, subschemas: 1, patterns: new Map(), names: [] };

/** Checks a schema without the shared schemas to which it refers. */
function checkOne(schema: JsonSchema, path: JsonPath, shared: SharedSchemas): CheckedSchema {
  if (typeof schema === 'boolean') return { problems: [], size: BOOLEAN_SIZE };
  const bytes = Buffer.byteLength(canonicalizeValue(schema));
  if (bytes > MAX_BYTES) {
    const message = `must be at most ${MAX_BYTES} bytes in canonical form`;
    return { problems: [{ rule: 'schema-too-large', message, hint: null, path }], size: null };
  }
  if (isDeeper(schema, MAX_DEPTH)) {
    const message = `must be nested at most ${MAX_DEPTH} levels deep`;
    const hint = 'use $defs and $ref';
    return { problems: [{ rule: 'schema-too-deep', message, hint, path }], size: null };
  }
  const { nodes } = createSchemaGraph([{ schema, path }], shared, () => false);
  const patterns = new Map<string, number>();
  const problems = nodes.flatMap((node) => [
    ...findKeywordProblems(node, { root: schema, shared }),
    ...findPatternProblems(node, patterns),
  ]);
  const [root] = nodes as [SchemaNode];
  const size = {
    bytes,
    subschemas: countExpanded(root, MAX_SUBSCHEMAS),
    patterns,
    names: [...new Set(nodes.flatMap(({ sharedName }) => sharedName ?? []))],
  };
  return { problems, size };
}

function findKeywordProblems({ schema, path }: SchemaNode, scope: SchemaScope): SchemaProblem[] {
  return Object.entries(schema).flatMap(([keyword, value]): SchemaProblem[] => {
    const shape = findShapeProblem(keyword, value);
    const place = [...path, keyword];
    if (shape !== null) return [{ rule: 'invalid-schema', path: place, ...shape }];
    const problem = findReferenceProblem(keyword, value, schema === scope.root, scope);
    return problem === null ? [] : [{ ...problem, path: place }];
  });
}

const LOCAL_ONLY =
  'refer to a place within the schema, #/$defs/name, or to a shared one, manifest:schemas/Name';

function findReferenceProblem(
  keyword: string,
  value: unknown,
  isRoot: boolean,
  scope: SchemaScope,
): Omit<SchemaProblem, 'path'> | null {
  const unsupported = (message: string) => ({
    rule: 'unsupported-keyword',
    message,
    hint: LOCAL_ONLY,
  });
  if (keyword === '$anchor' || keyword === '$dynamicRef') return unsupported('is not supported');
  if (keyword === '$id' && !isRoot) return unsupported('is supported only at the root of a schema');
  if (keyword === '$schema' && !(typeof value === 'string' && DIALECT.test(value))) {
    return { ...unsupported('must name JSON Schema 2020-12'), hint: 'remove it' };
  }
  if (keyword !== '$ref') return null;
  const isShared = readSharedName(value) !== null;
  if (!isShared && !(value as string).startsWith('#')) {
    const message = 'must not refer to another document';
    return { rule: 'remote-reference', message, hint: LOCAL_ONLY };
  }
  if (!isShared && parseReference(value as string) === null) {
    return unsupported('must be a JSON Pointer');
  }
  const target = resolveReference(scope, value)?.value;
  if (typeof target === 'boolean' || isSchemaObject(target)) return null;
  const message = `must refer to a schema within ${isShared ? "'schemas' of the manifest" : 'the schema'}`;
  return { rule: 'unresolved-reference', message, hint: LOCAL_ONLY };
}

const PATTERN_HINT = 'patterns run on RE2, in linear time';

/** @param sizes the sizes of translatable patterns, to which new ones are added */
function findPatternProblems(node: SchemaNode, sizes: Map<string, number>): SchemaProblem[] {
  return listPatterns(node).flatMap(({ pattern, path }): SchemaProblem[] => {
    try {
      if (!sizes.has(pattern)) sizes.set(pattern, translatePattern(pattern).size);
      return [];
    } catch (error) {
      if (!(error instanceof UntranslatablePattern)) throw error;
      return [{ rule: 'untranslatable-pattern', message: error.message, hint: PATTERN_HINT, path }];
    }
  });
}

function listPatterns({ schema, path }: SchemaNode) {
  const { pattern, patternProperties } = schema;
  const patterns = typeof pattern === 'string' ? [{ pattern, path: [...path, 'pattern'] }] : [];
  if (!isSchemaObject(patternProperties)) return patterns;
  for (const key of Object.keys(patternProperties)) {
    patterns.push({ pattern: key, path: [...path, 'patternProperties', key] });
  }
  return patterns;
}

/** A reference that leads back to itself at the same value would never end. */
function findCircularReferences(graph: SchemaGraph): SchemaProblem[] {
  const circles = findCircles(graph, ({ appliesTo }) => appliesTo === 'same');
  return graph.nodes.flatMap((node): SchemaProblem[] => {
    const isInCircle = node.edges.some(
      ({ keyword, target }) =>
        keyword === '$ref' && circles.has(node) && circles.get(node) === circles.get(target),
    );
    if (!isInCircle) return [];
    const message = 'leads back to itself without descending into the value';
    return [{ rule: 'circular-reference', message, hint: null, path: [...node.path, '$ref'] }];
  });
}

/** Two branches that lead back to their schema double the work at each level of a value. */
function findBranchingRecursion(graph: SchemaGraph): SchemaProblem[] {
  const circles = findCircles(graph, ({ appliesTo }) => appliesTo !== 'nothing');
  return graph.nodes.flatMap((node) => {
    if (!circles.has(node)) return [];
    return BRANCHES.flatMap((keywords): SchemaProblem[] => {
      const recursive = node.edges.filter(
        ({ keyword, target }) =>
          keywords.includes(keyword) && circles.get(target) === circles.get(node),
      );
      if (recursive.length < 2) return [];
      const message = 'recurs in more than one branch, at exponential cost';
      const path = [...node.path, recursive[0]?.keyword ?? ''];
      return [{ rule: 'branching-recursion', message, hint: 'recur in one branch alone', path }];
    });
  });
}
