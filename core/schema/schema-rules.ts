import canonicalize from 'canonicalize';
import type { JsonSchema } from '../contract/index.js';
import type { JsonPath } from './json-pointer.js';
import { parseReference } from './json-pointer.js';
import { findShapeProblem } from './keyword-shapes.js';
import { UntranslatablePattern } from './pattern-reader.js';
import {
  countExpanded,
  createSchemaGraph,
  findCircles,
  resolveReference,
  type SchemaGraph,
  type SchemaNode,
} from './schema-graph.js';
import { isSchemaObject } from './subschema-keywords.js';
import { translatePattern } from './translate-pattern.js';

/** What is wrong in a schema. The message continues the name of the place. */
interface SchemaProblem {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
  readonly path: JsonPath;
}

const MAX_BYTES = 65_536;
const MAX_DEPTH = 32;
const MAX_SUBSCHEMAS = 10_000;
/** Of all different patterns of a schema together: they are compiled at the first request. */
const MAX_PATTERN_SIZE = 20_000;
const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** Applicators whose branches all look at the same value. */
const BRANCHES: readonly (readonly string[])[] = [
  ['allOf'],
  ['anyOf'],
  ['oneOf'],
  ['if', 'then', 'else'],
];

/** Everything that makes a schema of a manifest invalid. */
export function findSchemaProblems(schema: JsonSchema): SchemaProblem[] {
  if (typeof schema === 'boolean') return [];
  const tooLarge = findExcess(schema);
  if (tooLarge !== null) return [tooLarge];
  const graph = createSchemaGraph(schema);
  const problems = [
    ...graph.nodes.flatMap((node) => findKeywordProblems(node, schema)),
    ...findPatternProblems(graph),
    ...findCircularReferences(graph),
    ...findBranchingRecursion(graph),
  ];
  if (countExpanded(graph.root, MAX_SUBSCHEMAS) > MAX_SUBSCHEMAS) {
    const message = `must have at most ${MAX_SUBSCHEMAS} subschemas, with references expanded`;
    problems.push({ rule: 'too-many-subschemas', message, hint: null, path: [] });
  }
  return problems;
}

function findExcess(schema: object): SchemaProblem | null {
  const text = canonicalize(schema) ?? '';
  if (Buffer.byteLength(text) > MAX_BYTES) {
    const message = `must be at most ${MAX_BYTES} bytes in canonical form`;
    return { rule: 'schema-too-large', message, hint: null, path: [] };
  }
  if (!isDeeper(schema, MAX_DEPTH)) return null;
  const message = `must be nested at most ${MAX_DEPTH} levels deep`;
  return { rule: 'schema-too-deep', message, hint: 'use $defs and $ref', path: [] };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function findKeywordProblems({ schema, path }: SchemaNode, root: unknown): SchemaProblem[] {
  return Object.entries(schema).flatMap(([keyword, value]): SchemaProblem[] => {
    const shape = findShapeProblem(keyword, value);
    const place = [...path, keyword];
    if (shape !== null) return [{ rule: 'invalid-schema', path: place, ...shape }];
    const problem = findReferenceProblem(keyword, value, path.length === 0, root);
    return problem === null ? [] : [{ ...problem, path: place }];
  });
}

const LOCAL_ONLY = 'refer to a place within the schema: #/$defs/name';

function findReferenceProblem(
  keyword: string,
  value: unknown,
  isRoot: boolean,
  root: unknown,
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
  if (!(value as string).startsWith('#')) {
    const message = 'must not refer to another document';
    return { rule: 'remote-reference', message, hint: LOCAL_ONLY };
  }
  if (parseReference(value as string) === null) return unsupported('must be a JSON Pointer');
  const target = resolveReference(root, value)?.value;
  if (typeof target === 'boolean' || isSchemaObject(target)) return null;
  const message = 'must refer to a schema within the schema';
  return { rule: 'unresolved-reference', message, hint: LOCAL_ONLY };
}

function findPatternProblems({ nodes }: SchemaGraph): SchemaProblem[] {
  const sizes = new Map<string, number>();
  const problems = nodes.flatMap((node) =>
    listPatterns(node).flatMap(({ pattern, path }): SchemaProblem[] => {
      try {
        if (!sizes.has(pattern)) sizes.set(pattern, translatePattern(pattern).size);
        return [];
      } catch (error) {
        if (!(error instanceof UntranslatablePattern)) throw error;
        return [patternProblem(error.message, path)];
      }
    }),
  );
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (total <= MAX_PATTERN_SIZE) return problems;
  return [...problems, patternProblem('has patterns that are too large for RE2 together', [])];
}

function patternProblem(message: string, path: JsonPath): SchemaProblem {
  const hint = 'patterns run on RE2, in linear time';
  return { rule: 'untranslatable-pattern', message, hint, path };
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
