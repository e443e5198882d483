import { printParseErrorCode, visit } from 'jsonc-parser';
import {
  addEntry,
  copyString,
  createScalar,
  DocumentBudget,
  type SyntaxEntry,
  type SyntaxNode,
  SyntaxStop,
  type SyntaxViolation,
} from './syntax-tree.js';
import { FILE_LIMITS, type TextLimits } from './text-limits.js';

interface OpenNode {
  readonly node: SyntaxNode;
  add(child: SyntaxNode): void;
}

interface Explanation {
  readonly message: string;
  readonly hint: string | null;
}

const STRING_CONTENT: Explanation = {
  message: 'a string holds something that JSON does not allow',
  hint: 'escape line breaks, control characters and backslashes',
};
const NO_COMMENTS: Explanation = { message: 'JSON has no comments', hint: 'remove the comment' };

/** Keyed by error names of jsonc-parser; all other errors mean that a value is missing. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  PropertyNameExpected: { message: 'expected a key in double quotes', hint: null },
  ColonExpected: { message: "expected ':' after the key", hint: null },
  CommaExpected: { message: 'expected a comma or a closing bracket', hint: null },
  CloseBraceExpected: { message: "expected ',' or '}'", hint: null },
  CloseBracketExpected: { message: "expected ',' or ']'", hint: null },
  EndOfFileExpected: { message: 'expected the end of the file', hint: null },
  InvalidCommentToken: NO_COMMENTS,
  UnexpectedEndOfComment: NO_COMMENTS,
  UnexpectedEndOfString: { message: 'a string is not closed', hint: null },
  UnexpectedEndOfNumber: { message: 'a number is not complete', hint: null },
  InvalidUnicode: STRING_CONTENT,
  InvalidEscapeCharacter: STRING_CONTENT,
  InvalidCharacter: STRING_CONTENT,
};
const VALUE_EXPECTED: Explanation = { message: 'expected a value', hint: null };

/**
 * Reads strict JSON (RFC 8259) with the position of every key and value. JSON.parse reports neither
 * positions nor duplicate keys.
 * @throws SyntaxStop at the first character that is not JSON.
 */
export function parseJsonNode(
  text: string,
  violations: SyntaxViolation[],
  limits: TextLimits = FILE_LIMITS,
): SyntaxNode {
  const builder = new TreeBuilder(text, violations, limits);
  visit(
    text,
    {
      onObjectBegin: (offset) => builder.openMapping(offset),
      onObjectProperty: (key, offset) => builder.setKey(key, offset),
      onObjectEnd: () => builder.close(),
      onArrayBegin: (offset) => builder.openList(offset),
      onArrayEnd: () => builder.close(),
      onLiteralValue: (value, offset) => builder.addScalar(value, offset),
      onSeparator: (character, offset) => builder.noteSeparator(character, offset),
      onError: (code, offset) => builder.stop(printParseErrorCode(code), offset),
    },
    { disallowComments: true },
  );
  return builder.root;
}

class TreeBuilder {
  root: SyntaxNode = { kind: 'scalar', offset: 0, value: null };
  readonly #text: string;
  readonly #violations: SyntaxViolation[];
  readonly #budget: DocumentBudget;
  readonly #open: OpenNode[] = [];
  #key = { name: '', offset: 0 };
  #comma: number | null = null;

  constructor(text: string, violations: SyntaxViolation[], limits: TextLimits) {
    this.#text = text;
    this.#violations = violations;
    this.#budget = new DocumentBudget(limits);
  }

  openMapping(offset: number): void {
    const entries = new Map<string, SyntaxEntry>();
    this.#push({
      node: { kind: 'mapping', offset, entries },
      add: (node) => {
        const { name, offset: keyOffset } = this.#key;
        this.#budget.countKey(entries, keyOffset);
        addEntry(entries, name, { offset: keyOffset, node }, this.#violations);
      },
    });
  }

  openList(offset: number): void {
    const items: SyntaxNode[] = [];
    const node: SyntaxNode = { kind: 'list', offset, items };
    this.#push({ node, add: (item) => items.push(item) });
  }

  setKey(name: string, offset: number): void {
    this.#comma = null;
    this.#key = { name: copyString(name), offset };
  }

  addScalar(value: unknown, offset: number): void {
    const scalar = typeof value === 'string' ? copyString(value) : (value as number);
    this.#add(createScalar(scalar, offset, this.#violations));
  }

  close(): void {
    this.#open.pop();
  }

  noteSeparator(character: string, offset: number): void {
    this.#comma = character === ',' ? offset : null;
  }

  stop(code: string, offset: number): never {
    const close = this.#text[offset];
    if (this.#comma !== null && (close === '}' || close === ']')) {
      const message = `a comma must not stand before '${close}'`;
      throw createStop({ message, hint: 'remove the comma' }, this.#comma);
    }
    throw createStop(EXPLANATIONS[code] ?? VALUE_EXPECTED, offset);
  }

  #push(open: OpenNode): void {
    this.#add(open.node);
    this.#open.push(open);
  }

  /** A mapping is added before its members are read, so its key is consumed here. */
  #add(node: SyntaxNode): void {
    this.#comma = null;
    this.#budget.countValue(this.#open.length, node.offset);
    const parent = this.#open.at(-1);
    if (parent === undefined) this.root = node;
    else parent.add(node);
  }
}

function createStop({ message, hint }: Explanation, offset: number): SyntaxStop {
  return new SyntaxStop({ rule: 'json-syntax', message, hint, offset });
}
