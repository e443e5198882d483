import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type { YAMLError } from 'yaml';
import { hintAtInvisible } from './hint-at-characters.js';
import type { SyntaxViolation } from './syntax-tree.js';

const require = createRequire(import.meta.url);

/** Loads the library at the first YAML text: it has 73 files, which JSON does not need. */
export function loadYaml(): typeof Yaml {
  return require('yaml') as typeof Yaml;
}

type Explanation = Omit<SyntaxViolation, 'offset'>;

const QUOTE = 'put the value in quotes';
const TAGS: Explanation = {
  rule: 'unsupported-tag',
  message: 'only the tags of the YAML 1.2 core schema are supported',
  hint: 'remove the tag',
};
const INDENTATION = syntax(
  'the indentation does not fit the lines above, or a bracket is not closed',
  'start the keys of one mapping in the same column',
);

/** Replaces the library's messages, which quote the text and could expose a secret. */
const EXPLANATIONS: Readonly<Record<YAMLError['code'], Explanation>> = {
  ALIAS_PROPS: syntax('an alias must not have an anchor or a tag'),
  BAD_ALIAS: syntax('an anchor or alias has no name', QUOTE),
  BAD_COLLECTION_TYPE: TAGS,
  BAD_DIRECTIVE: syntax('a directive is malformed', 'remove the line'),
  BAD_DQ_ESCAPE: syntax('a string in double quotes has an unknown escape', 'use single quotes'),
  BAD_INDENT: INDENTATION,
  BAD_PROP_ORDER: syntax('an anchor or a tag is in the wrong place'),
  BAD_SCALAR_START: syntax('a value without quotes must not start with this character', QUOTE),
  BLOCK_AS_IMPLICIT_KEY: syntax('a list or mapping cannot start on this line', QUOTE),
  BLOCK_IN_FLOW: syntax('a block cannot be inside brackets'),
  DUPLICATE_KEY: syntax('this mapping has the same key twice', 'remove one of the two'),
  IMPOSSIBLE: syntax('this cannot be read as YAML'),
  KEY_OVER_1024_CHARS: syntax('a key is longer than 1024 characters'),
  MISSING_CHAR: syntax('a character is missing: a comma, a colon, a space or a closing quote'),
  MULTILINE_IMPLICIT_KEY: syntax('a key must be on one line', 'is a colon or a quote missing?'),
  MULTIPLE_ANCHORS: syntax('a value must not have two anchors'),
  MULTIPLE_DOCS: syntax('a file must hold one document'),
  MULTIPLE_TAGS: syntax('a value must not have two tags'),
  NON_STRING_KEY: syntax('a key must be a string'),
  RESOURCE_EXHAUSTION: syntax('this is too complex to be read'),
  TAB_AS_INDENT: syntax('tabs are not allowed as indentation', 'indent with spaces'),
  TAG_RESOLVE_FAILED: TAGS,
  UNEXPECTED_TOKEN: syntax('this is not expected here'),
};

const BRACES_IN_VALUE = syntax(
  "a value without quotes must not hold '{' inside brackets",
  'put the value in quotes, such as "/contacts/{id}"',
);
const DEEPER_LINE = syntax(
  'the next line is indented deeper, but this line already has a value',
  'start the keys of one mapping in the same column',
);

function syntax(message: string, hint: string | null = null): Explanation {
  return { rule: 'yaml-syntax', message, hint };
}

/** Warnings that are rejected, because the value would differ from the intended one. */
const REJECTED_WARNINGS: ReadonlySet<YAMLError['code']> = new Set([
  'TAG_RESOLVE_FAILED',
  'BAD_COLLECTION_TYPE',
]);

/** Keys are checked while the tree is built: the library would also reject an alias of a string. */
const DEFERRED_ERRORS: ReadonlySet<YAMLError['code']> = new Set(['NON_STRING_KEY']);

/** The first error of a document, since most later errors result from it. */
export function findYamlError(
  text: string,
  errors: readonly YAMLError[],
  warnings: readonly YAMLError[],
): SyntaxViolation | null {
  const relevant = [
    ...errors.filter(({ code }) => !DEFERRED_ERRORS.has(code)),
    ...warnings.filter(({ code }) => REJECTED_WARNINGS.has(code)),
  ];
  const first = relevant.reduce<YAMLError | null>(
    (earliest, error) => (earliest !== null && earliest.pos[0] <= error.pos[0] ? earliest : error),
    null,
  );
  if (first === null) return null;
  return { ...explain(text, first, relevant), offset: first.pos[0] };
}

/** Finds all further braces in values: a file of routes usually repeats this mistake. */
export function findBraces(
  text: string,
  errors: readonly YAMLError[],
  first: SyntaxViolation,
): SyntaxViolation[] {
  const braces = errors.map(({ pos }) => pos[0]).filter((offset) => isBraceInValue(text, offset));
  const offsets = new Set(braces);
  offsets.delete(first.offset);
  return [...offsets].map((offset) => ({ ...BRACES_IN_VALUE, offset }));
}

function explain(text: string, first: YAMLError, all: readonly YAMLError[]): Explanation {
  const { code, pos } = first;
  if (isBraceInValue(text, pos[0])) return BRACES_IN_VALUE;
  const isMultiline = all.some(
    (error) => error.code === 'MULTILINE_IMPLICIT_KEY' && error.pos[0] === pos[0],
  );
  const isDeeper = code === 'BLOCK_AS_IMPLICIT_KEY' && isMultiline;
  const { hint, ...explanation } = isDeeper ? DEEPER_LINE : EXPLANATIONS[code];
  return { ...explanation, hint: hintAtInvisible(lineAt(text, pos[0])) ?? hint };
}

function lineAt(text: string, offset: number): string {
  const end = text.indexOf('\n', offset);
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, end === -1 ? undefined : end);
}

/** Matches a value such as `{ path: /b/{id} }`, whose inner brace would start a mapping. */
function isBraceInValue(text: string, offset: number): boolean {
  return text[offset] === '{' && /[^\s,:[{]/.test(text[offset - 1] ?? ' ');
}
