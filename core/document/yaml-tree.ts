import type * as Yaml from 'yaml';
import type { Alias, ParsedNode, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import {
  addEntry,
  createScalar,
  MAX_DEPTH,
  type SyntaxEntry,
  type SyntaxNode,
  SyntaxStop,
  type SyntaxViolation,
  TOO_DEEP,
} from './syntax-tree.js';
import { loadYaml } from './yaml-errors.js';

/** Nodes that aliases may add in all: room for shared blocks, none for a billion laughs. */
const MAX_ALIASED_NODES = 10_000;

interface Build {
  readonly yaml: Pick<typeof Yaml, 'isAlias' | 'isMap' | 'isScalar'>;
  readonly faults: SyntaxViolation[];
  /** The latest node of each anchor: an alias means the one that stands last before it. */
  readonly anchors: Map<string, ParsedNode>;
  /** What each alias meant where it stands, since an anchor may be given again later. */
  readonly targets: Map<Alias, ParsedNode>;
  readonly open: Set<ParsedNode>;
  aliasDepth: number;
  aliasedNodes: number;
}

/**
 * Turns the library's tree into ours, aliases expanded.
 * @throws TextStop for depth, and for aliases that are unknown, circular or too many.
 */
export function buildYamlNode(root: ParsedNode | null, faults: SyntaxViolation[]): SyntaxNode {
  const build: Build = {
    yaml: loadYaml(),
    faults,
    anchors: new Map(),
    targets: new Map(),
    open: new Set(),
    aliasDepth: 0,
    aliasedNodes: 0,
  };
  return root === null ? createScalar(null, 0, faults) : buildNode(root, build, 0);
}

function buildNode(node: ParsedNode, build: Build, depth: number): SyntaxNode {
  const { isAlias, isMap, isScalar } = build.yaml;
  const offset = offsetOf(node);
  if (depth > MAX_DEPTH) throw new SyntaxStop({ ...TOO_DEEP, offset });
  if (isAlias(node)) return buildAlias(node, build, depth);
  countAliased(build, offset);
  if (node.anchor !== undefined) build.anchors.set(node.anchor, node);
  if (isScalar(node)) return buildScalar(node, build);
  build.open.add(node);
  const built = isMap(node) ? buildMapping(node, build, depth) : buildList(node, build, depth);
  build.open.delete(node);
  return built;
}

function buildAlias(node: Alias.Parsed, build: Build, depth: number): SyntaxNode {
  const offset = offsetOf(node);
  const target = build.targets.get(node) ?? build.anchors.get(node.source);
  if (target === undefined) {
    throw alias('unknown-alias', 'an alias names an anchor that does not stand before it', offset);
  }
  if (build.open.has(target)) {
    throw alias('circular-alias', 'an alias stands within the value that it names', offset);
  }
  build.targets.set(node, target);
  build.aliasDepth += 1;
  const built = buildNode(target, build, depth);
  build.aliasDepth -= 1;
  return built;
}

function countAliased(build: Build, offset: number): void {
  if (build.aliasDepth === 0) return;
  build.aliasedNodes += 1;
  if (build.aliasedNodes <= MAX_ALIASED_NODES) return;
  throw alias(
    'too-many-aliases',
    `the aliases stand for more than ${MAX_ALIASED_NODES} values`,
    offset,
  );
}

function alias(rule: string, message: string, offset: number): SyntaxStop {
  return new SyntaxStop({ rule, message, hint: 'write the value out', offset });
}

function buildScalar(node: Scalar.Parsed, build: Build): SyntaxNode {
  return createScalar(readScalar(node.value), offsetOf(node), build.faults);
}

function readScalar(value: unknown): string | number | boolean | null {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  return copyString(String(value));
}

/** The library's strings are slices, any of which keeps the whole text: a record of a call would, for days. */
function copyString(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

function buildList(node: YAMLSeq.Parsed, build: Build, depth: number): SyntaxNode {
  const items = node.items.map((item) => buildNode(item as ParsedNode, build, depth + 1));
  return { kind: 'list', offset: offsetOf(node), items };
}

function buildMapping(node: YAMLMap.Parsed, build: Build, depth: number): SyntaxNode {
  const { isScalar } = build.yaml;
  const entries = new Map<string, SyntaxEntry>();
  for (const pair of node.items) {
    const offset = offsetOf(pair.key);
    const key = isScalar(pair.key) ? copyString(String(pair.key.value ?? '')) : '';
    if (key === '<<' && isScalar(pair.key) && pair.key.type === 'PLAIN') {
      const message = "merge keys ('<<') are not supported";
      build.faults.push({ rule: 'merge-key', message, hint: 'write the keys out', offset });
    }
    const value =
      pair.value === null
        ? createScalar(null, offset, build.faults)
        : buildNode(pair.value, build, depth + 1);
    addEntry(entries, key, { offset, node: value }, build.faults);
  }
  return { kind: 'mapping', offset: offsetOf(node), entries };
}

function offsetOf(node: ParsedNode): number {
  return node.range[0];
}
