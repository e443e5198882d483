import type { CST, Document, ParsedNode, ScalarTag } from 'yaml';
import {
  EMPTY_TEXT,
  MAX_DEPTH,
  type SyntaxNode,
  SyntaxStop,
  type SyntaxViolation,
  TOO_DEEP,
} from './syntax-tree.js';
import { formatLength, type TextLimits } from './text-limits.js';
import { findBraces, findYamlError, loadYaml } from './yaml-errors.js';
import { buildYamlNode } from './yaml-tree.js';

/** Besides open collections, the parser's stack holds the document and the current scalar. */
const MAX_PARSER_STACK = MAX_DEPTH + 3;

const AS_JSON = 'write it as JSON, or split it';

const BOOLEAN_TAG = 'tag:yaml.org,2002:bool';

/**
 * Reads one YAML 1.2 document, core schema, with the position of every key and value.
 * @throws SyntaxStop for invalid YAML, and for none or several documents.
 */
export function parseYamlNode(
  text: string,
  violations: SyntaxViolation[],
  limits: TextLimits,
): SyntaxNode {
  const { yamlLength, hint } = limits;
  if (text.length > yamlLength) {
    throw stop(
      'file-too-large',
      `YAML is longer than ${formatLength(yamlLength)}`,
      0,
      hint ?? AS_JSON,
    );
  }
  const document = composeDocument(readTokens(text, limits));
  const error = findYamlError(text, document.errors, document.warnings);
  if (error !== null) {
    violations.push(...findBraces(text, document.errors, error));
    throw new SyntaxStop(error);
  }
  if (document.directives.yaml.version !== '1.2') {
    throw stop('yaml-version', 'only YAML 1.2 is supported', 0, 'remove the directive');
  }
  if (isEmpty(document.contents)) throw new SyntaxStop(EMPTY_TEXT);
  return buildYamlNode(document.contents, violations, limits);
}

/** Checks the limits on depth, tokens and documents before the document is composed. */
function readTokens(text: string, { yamlTokens, hint }: TextLimits): CST.Token[] {
  const { Lexer, Parser } = loadYaml();
  const parser = new Parser();
  const stream = new TokenStream();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > yamlTokens) {
      const message = `the YAML text has more than ${yamlTokens} tokens`;
      const offset = Math.min(parser.offset, text.length);
      throw stop('too-many-values', message, offset, hint ?? AS_JSON);
    }
    for (const token of parser.next(lexeme)) stream.add(token);
    if (parser.stack.length > MAX_PARSER_STACK) {
      throw new SyntaxStop({ ...TOO_DEEP, offset: parser.offset });
    }
  }
  for (const token of parser.end()) stream.add(token);
  return stream.tokens;
}

/** The tokens of one document; a second document or `%YAML` directive ends the stream. */
class TokenStream {
  readonly tokens: CST.Token[] = [];
  #hasDocument = false;
  #hasVersion = false;

  add(token: CST.Token): void {
    const isDirective = token.type === 'directive';
    if (token.type === 'document' || isDirective) {
      if (this.#hasDocument) {
        const message = 'a file must hold one document';
        throw stop('multiple-documents', message, token.offset, 'split the file');
      }
      this.#hasDocument = !isDirective;
    }
    if (isDirective && /^%YAML\s/.test(token.source)) {
      if (this.#hasVersion) {
        const message = 'the directive %YAML is repeated';
        throw stop('yaml-syntax', message, token.offset, 'remove the line');
      }
      this.#hasVersion = true;
    }
    this.tokens.push(token);
  }
}

function stop(rule: string, message: string, offset: number, hint: string): SyntaxStop {
  return new SyntaxStop({ rule, message, hint, offset });
}

/** A text with only comments or document marks is parsed as an empty plain scalar. */
function isEmpty(contents: ParsedNode | null): boolean {
  if (contents === null) return true;
  return loadYaml().isScalar(contents) && contents.type === 'PLAIN' && contents.source === '';
}

function composeDocument(tokens: readonly CST.Token[]): Document.Parsed {
  const { Composer, Scalar } = loadYaml();
  // Booleans are exactly `true` and `false`; the core schema would accept `True` and `TRUE` too.
  const strictBoolean: ScalarTag = {
    default: true,
    tag: BOOLEAN_TAG,
    test: /^(?:true|false)$/,
    resolve: (source) => new Scalar(source === 'true'),
  };
  // Duplicate keys are detected while the tree is built: the library's search is quadratic.
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    resolveKnownTags: false,
    strict: true,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    customTags: (tags) => [strictBoolean, ...tags.filter((tag) => !isBooleanTag(tag))],
  });
  const [document] = withoutStacks(() => [...composer.compose(tokens, true, 0)]);
  if (document === undefined) throw new Error('the YAML composer returned no document');
  return document;
}

/** The library creates an Error for every bad escape, up to half a million in 1 MiB. */
function withoutStacks<T>(work: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function isBooleanTag(tag: unknown): boolean {
  return (tag as { tag?: unknown }).tag === BOOLEAN_TAG;
}
