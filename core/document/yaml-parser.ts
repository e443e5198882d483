import type { CST, Document, ParsedNode, ScalarTag } from 'yaml';
import {
  EMPTY_TEXT,
  MAX_DEPTH,
  MAX_VALUES,
  type SyntaxNode,
  SyntaxStop,
  type SyntaxViolation,
  TOO_DEEP,
  TOO_MANY_VALUES,
} from './syntax-tree.js';
import { findYamlError, loadYaml } from './yaml-errors.js';
import { buildYamlNode } from './yaml-tree.js';

/** The parser's stack holds, besides the open collections, the document and the scalar being read. */
const MAX_PARSER_STACK = MAX_DEPTH + 3;

/**
 * Names, values, marks, spaces and line breaks together; a manifest of ten thousand routes with summaries has
 * 340,000. The library takes more than a microsecond for each.
 */
const MAX_LEXEMES = 2 * MAX_VALUES;
/** How much of a text that has too many is looked at for its depth. */
const DEPTH_LEXEMES = 10_000;

const BOOLEAN_TAG = 'tag:yaml.org,2002:bool';

/**
 * Reads one YAML 1.2 document, core schema, with the place of every key and value.
 * @throws TextStop for what is not YAML, and for a text that holds no document or several.
 */
export function parseYamlNode(text: string, faults: SyntaxViolation[]): SyntaxNode {
  const document = composeDocument(readTokens(text));
  const error = findYamlError(document.errors, document.warnings);
  if (error !== null) throw new SyntaxStop(error);
  if (document.directives.yaml.version !== '1.2') {
    const message = 'only YAML 1.2 is supported';
    throw new SyntaxStop({
      rule: 'yaml-version',
      message,
      hint: 'remove the directive',
      offset: 0,
    });
  }
  if (isEmpty(document.contents)) throw new SyntaxStop(EMPTY_TEXT);
  return buildYamlNode(document.contents, faults);
}

/** Stops early at what the library would read for seconds: depth, length, and document after document. */
function readTokens(text: string): CST.Token[] {
  const { Parser } = loadYaml();
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let hasDocument = false;
  const take = (token: CST.Token) => {
    if (token.type === 'document' && hasDocument) throw stopAtSecondDocument(token.offset);
    hasDocument ||= token.type === 'document';
    tokens.push(token);
  };
  const { lexemes, endsAt } = readLexemes(text);
  // Of two faults the depth is the one that says more.
  for (const lexeme of endsAt === null ? lexemes : lexemes.slice(0, DEPTH_LEXEMES)) {
    for (const token of parser.next(lexeme)) take(token);
    if (parser.stack.length > MAX_PARSER_STACK) {
      throw new SyntaxStop({ ...TOO_DEEP, offset: parser.offset });
    }
  }
  if (endsAt !== null) throw new SyntaxStop({ ...TOO_MANY_VALUES, offset: endsAt });
  for (const token of parser.end()) take(token);
  return tokens;
}

/** All of them before the first is parsed, which takes far longer than to find them; `endsAt` if too many. */
function readLexemes(text: string): { lexemes: string[]; endsAt: number | null } {
  const lexemes: string[] = [];
  let offset = 0;
  const { Lexer } = loadYaml();
  for (const lexeme of new Lexer().lex(text)) {
    if (lexemes.push(lexeme) > MAX_LEXEMES) return { lexemes, endsAt: offset };
    offset = Math.min(offset + lexeme.length, text.length);
  }
  return { lexemes, endsAt: null };
}

function stopAtSecondDocument(offset: number): SyntaxStop {
  const message = 'a file must hold one document';
  return new SyntaxStop({ rule: 'multiple-documents', message, hint: 'split the file', offset });
}

/** Comments alone, or a document mark alone, are read as a plain scalar of no characters. */
function isEmpty(contents: ParsedNode | null): boolean {
  if (contents === null) return true;
  return loadYaml().isScalar(contents) && contents.type === 'PLAIN' && contents.source === '';
}

function composeDocument(tokens: readonly CST.Token[]): Document.Parsed {
  const { Composer, Scalar } = loadYaml();
  // Contract 6: booleans are exactly `true` and `false`; the core schema would take `True` and `TRUE` too.
  const strictBoolean: ScalarTag = {
    default: true,
    tag: BOOLEAN_TAG,
    test: /^(?:true|false)$/,
    resolve: (source) => new Scalar(source === 'true'),
  };
  // Duplicate keys are found by our own map: the library's search is quadratic.
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
  const [document] = composer.compose(tokens, true, 0);
  if (document === undefined) throw new Error('a composer that must yield a document yielded none');
  return document;
}

function isBooleanTag(tag: unknown): boolean {
  return (tag as { tag?: unknown }).tag === BOOLEAN_TAG;
}
