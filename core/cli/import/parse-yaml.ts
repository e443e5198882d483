import {
  type Alias,
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  Lexer,
  type ParsedNode,
  Parser,
  type YAMLMap,
} from 'yaml';
import { SyntaxStop } from '../../document/syntax-tree.js';
import { findYamlError } from '../../document/yaml-errors.js';
import { isObject, MAX_DEPTH } from '../json-value.js';

/** The maximum number of values that aliases may add: many times that of public descriptions. */
const MAX_ALIASED_VALUES = 1_000_000;

/** Besides open collections, the parser's stack holds the document and the current scalar. */
const MAX_PARSER_STACK = MAX_DEPTH + 3;

/**
 * Parses YAML 1.2 with merge keys. An alias is the value of its anchor itself, not a copy.
 * @throws SyntaxStop
 */
export function parseYaml(text: string): unknown {
  // The library compares each key with all before it.
  const options = { version: '1.2', logLevel: 'error', prettyErrors: false } as const;
  const composer = new Composer({ ...options, uniqueKeys: false });
  const [document, second] = composer.compose(readTokens(text), true, text.length);
  if (document === undefined) return null;
  if (second !== undefined) throw stop('a file must hold one document', second.range[0]);
  const error = findYamlError(text, document.errors, []);
  if (error !== null) throw new SyntaxStop(error);
  return new ValueBuilder().build(document.contents, 0);
}

/** Checks the depth before the document is composed, which recurses. */
function readTokens(text: string): CST.Token[] {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_PARSER_STACK) throw tooDeep(parser.offset);
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

interface Anchored {
  value: unknown;
  /** The number of values in it, with aliases expanded. */
  size: number;
  isOpen: boolean;
}

class ValueBuilder {
  readonly #anchors = new Map<string, Anchored>();
  /** The number of values so far, with aliases expanded. */
  #size = 0;
  #aliased = 0;

  /** @throws SyntaxStop for depth, for aliases that are unknown, circular or too many. */
  build(node: ParsedNode | null, depth: number): unknown {
    if (node === null) return null;
    if (depth > MAX_DEPTH) throw tooDeep(node.range[0]);
    if (isAlias(node)) return this.#resolve(node);
    const before = this.#size;
    this.#size += 1;
    if (node.anchor === undefined) return this.#buildValue(node, depth);
    const anchored: Anchored = { value: undefined, size: 0, isOpen: true };
    this.#anchors.set(node.anchor, anchored);
    anchored.value = this.#buildValue(node, depth);
    anchored.size = this.#size - before;
    anchored.isOpen = false;
    return anchored.value;
  }

  #resolve(node: Alias.Parsed): unknown {
    const [offset] = node.range;
    const anchored = this.#anchors.get(node.source);
    if (anchored === undefined) throw stop('an alias has no anchor before it', offset);
    if (anchored.isOpen) throw stop('an alias is part of the value that it refers to', offset);
    this.#size += anchored.size;
    this.#aliased += anchored.size;
    if (this.#aliased <= MAX_ALIASED_VALUES) return anchored.value;
    throw stop(`the aliases expand to more than ${MAX_ALIASED_VALUES} values`, offset);
  }

  #buildValue(node: Exclude<ParsedNode, Alias.Parsed>, depth: number): unknown {
    if (isScalar(node)) return node.value;
    if (isMap(node)) return this.#buildMapping(node, depth);
    return node.items.map((item) => this.build(item as ParsedNode, depth + 1));
  }

  /** Own keys win over merged ones, and the first of several merged mappings over later ones. */
  #buildMapping(node: YAMLMap.Parsed, depth: number): unknown {
    const own = new Map<string, unknown>();
    const merged = new Map<string, unknown>();
    const names = new Set<unknown>();
    for (const { key, value } of node.items) {
      const [offset] = key.range;
      const isMerge = isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
      const name = this.build(key, depth + 1);
      const member = this.build(value, depth + 1);
      if (typeof name === 'object' && name !== null) throw stop('a key must be a string', offset);
      if (!isMerge && names.has(name)) throw stop('this mapping has the same key twice', offset);
      if (!isMerge) own.set(String(name ?? ''), member);
      if (!isMerge) names.add(name);
      for (const source of isMerge ? [member].flat() : []) {
        if (!isObject(source)) throw stop('a merge key needs a mapping', offset);
        for (const [inner, item] of Object.entries(source)) {
          if (!merged.has(inner)) merged.set(inner, item);
        }
      }
    }
    return Object.fromEntries([...merged, ...own]);
  }
}

function tooDeep(offset: number): SyntaxStop {
  return stop(`lists and mappings are nested more than ${MAX_DEPTH} levels deep`, offset);
}

function stop(message: string, offset: number): SyntaxStop {
  return new SyntaxStop({ rule: 'yaml-syntax', message, hint: null, offset });
}
