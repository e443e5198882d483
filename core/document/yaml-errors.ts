import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type { YAMLError } from 'yaml';
import type { SyntaxViolation } from './syntax-tree.js';

const require = createRequire(import.meta.url);

/** The library, which comes with the first text in YAML: 73 files, for which a folder of JSON need not wait. */
export function loadYaml(): typeof Yaml {
  return require('yaml') as typeof Yaml;
}

interface Explanation {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
}

const QUOTE = 'put the value in quotes';
const TAGS: Explanation = {
  rule: 'unsupported-tag',
  message: 'tags are not supported beside those of the YAML 1.2 core schema',
  hint: 'remove the tag',
};

/** Our own words: the library's messages quote the text, which may hold what nobody is to see. */
const EXPLANATIONS: Readonly<Record<YAMLError['code'], Explanation>> = {
  ALIAS_PROPS: syntax('an alias must not have an anchor or a tag'),
  BAD_ALIAS: syntax('an anchor or alias is malformed', QUOTE),
  BAD_COLLECTION_TYPE: TAGS,
  BAD_DIRECTIVE: syntax('a directive is malformed', 'remove the line'),
  BAD_DQ_ESCAPE: syntax('a string in double quotes has an unknown escape', 'use single quotes'),
  BAD_INDENT: syntax('the indentation does not fit the lines above, or a bracket is not closed'),
  BAD_PROP_ORDER: syntax('an anchor or a tag stands in the wrong place'),
  BAD_SCALAR_START: syntax('a value without quotes must not start with this character', QUOTE),
  BLOCK_AS_IMPLICIT_KEY: syntax('a list or mapping cannot start on this line', QUOTE),
  BLOCK_IN_FLOW: syntax('a block cannot stand within brackets'),
  DUPLICATE_KEY: syntax('this mapping has the same key twice', 'remove one of the two'),
  IMPOSSIBLE: syntax('this cannot be read as YAML'),
  KEY_OVER_1024_CHARS: syntax('a key is longer than 1024 characters'),
  MISSING_CHAR: syntax('a character is missing: a comma, a colon, a space or a closing quote'),
  MULTILINE_IMPLICIT_KEY: syntax('a key must stand on one line', 'is a colon or a quote missing?'),
  MULTIPLE_ANCHORS: syntax('a value must not have two anchors'),
  MULTIPLE_DOCS: syntax('a file must hold one document'),
  MULTIPLE_TAGS: syntax('a value must not have two tags'),
  NON_STRING_KEY: syntax('a key must be a string'),
  RESOURCE_EXHAUSTION: syntax('this is too complex to be read'),
  TAB_AS_INDENT: syntax('tabs are not allowed as indentation', 'indent with spaces'),
  TAG_RESOLVE_FAILED: TAGS,
  UNEXPECTED_TOKEN: syntax('this is not expected here'),
};

function syntax(message: string, hint: string | null = null): Explanation {
  return { rule: 'yaml-syntax', message, hint };
}

/** What the library only warns of, but which would not mean what the author meant. */
const REJECTED_WARNINGS: ReadonlySet<YAMLError['code']> = new Set([
  'TAG_RESOLVE_FAILED',
  'BAD_COLLECTION_TYPE',
  'BAD_ALIAS',
]);

/** The first error of a document, since those after it mostly follow from it. */
export function findYamlError(
  errors: readonly YAMLError[],
  warnings: readonly YAMLError[],
): SyntaxViolation | null {
  const refused = warnings.filter((warning) => REJECTED_WARNINGS.has(warning.code));
  const [first] = [...errors, ...refused].sort((a, b) => a.pos[0] - b.pos[0]);
  return first ? { ...EXPLANATIONS[first.code], offset: first.pos[0] } : null;
}
