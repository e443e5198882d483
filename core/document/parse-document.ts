import { skipMarkOfText } from '../lib/byte-order-mark.js';
import {
  type Diagnostic,
  InvalidFile,
  MAX_DIAGNOSTICS,
  type Path,
  type PathEnd,
} from './diagnostic.js';
import { parseJsonNode } from './json-parser.js';
import { readJsonValue } from './json-value.js';
import { createPlaceFinder, type Position } from './position.js';
import {
  EMPTY_TEXT,
  findNodeOffset,
  readNodeValue,
  type SyntaxNode,
  SyntaxStop,
  type SyntaxViolation,
} from './syntax-tree.js';
import { FILE_LIMITS, formatLength, type TextLimits } from './text-limits.js';
import { parseYamlNode } from './yaml-parser.js';

export type TextFormat = 'json' | 'yaml';

export interface StructuredText {
  /** Plain data: no `__proto__` key, only finite numbers, at most 100 levels deep. */
  readonly value: unknown;
  /** Returns the position of a path, or of the nearest part of it that exists. */
  readonly locate: (path: Path, at: PathEnd) => Position;
}

export interface PlacedViolation extends Position {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
}

/** The text cannot be read; `violations` quote nothing of it and are in its order. */
export class InvalidText extends Error {
  override readonly name = 'InvalidText';
  readonly violations: readonly PlacedViolation[];

  constructor(violations: readonly PlacedViolation[]) {
    super(violations.map(({ message }) => message).join('; '));
    this.violations = violations;
  }
}

/** The maximum length of a text in characters, and of a file in bytes. */
export const MAX_TEXT_LENGTH = FILE_LIMITS.length;

/**
 * Reads JSON (strict, RFC 8259) or YAML (1.2, core schema); rejects duplicate keys, and ignores a
 * byte-order mark.
 * @throws InvalidText for anything else.
 */
export function parseStructuredText(
  written: string,
  format: TextFormat,
  limits: TextLimits = FILE_LIMITS,
): StructuredText {
  const text = skipMarkOfText(written);
  if (format === 'json' && text.length <= limits.length) {
    const value = readJsonValue(text, limits);
    if (value !== undefined) {
      let tree: StructuredText | null = null;
      const locate = (path: Path, at: PathEnd) => {
        tree ??= parseTree(text, format, limits);
        return tree.locate(path, at);
      };
      return { value, locate };
    }
  }
  return parseTree(text, format, limits);
}

function parseTree(text: string, format: TextFormat, limits: TextLimits): StructuredText {
  const findPlace = createPlaceFinder(text);
  const violations: SyntaxViolation[] = [];
  const root = parseNode(text, format, violations, limits);
  if (root === null || violations.length > 0) {
    violations.sort((a, b) => a.offset - b.offset);
    throw new InvalidText(
      violations
        .slice(0, MAX_DIAGNOSTICS)
        .map(({ offset, ...violation }) => ({ ...violation, ...findPlace(offset) })),
    );
  }
  return {
    value: readNodeValue(root),
    locate: (path, at) => findPlace(findNodeOffset(root, path, at)),
  };
}

function parseNode(
  text: string,
  format: TextFormat,
  violations: SyntaxViolation[],
  limits: TextLimits,
): SyntaxNode | null {
  try {
    assertReadable(text, limits);
    const parse = format === 'json' ? parseJsonNode : parseYamlNode;
    return parse(text, violations, limits);
  } catch (error) {
    if (!(error instanceof SyntaxStop)) throw error;
    violations.push(error.violation);
    return null;
  }
}

const CONFLICT = /^<{7} /m;
const MERGE_CONFLICT = {
  rule: 'merge-conflict',
  message: 'the file has the markers of a merge conflict',
  hint: 'resolve the conflict, and remove the lines of its markers',
};

function assertReadable(text: string, { length, hint }: TextLimits): void {
  if (text.length > length) {
    const message = `the text is longer than ${formatLength(length)}`;
    throw new SyntaxStop({ rule: 'file-too-large', message, hint, offset: 0 });
  }
  if (text.trim() === '') throw new SyntaxStop(EMPTY_TEXT);
  // No value in the first column begins so, in either format.
  const offset = text.search(CONFLICT);
  if (offset !== -1) throw new SyntaxStop({ ...MERGE_CONFLICT, offset });
}

/** Uses the file name extension; a file without one is JSON if it starts with `{`. */
export function detectFormat(file: string, text: string): TextFormat {
  if (/\.json$/i.test(file)) return 'json';
  if (/\.ya?ml$/i.test(file)) return 'yaml';
  return text.trimStart().startsWith('{') ? 'json' : 'yaml';
}

/** @throws InvalidFile when the text cannot be read. */
export function readStructuredText(
  file: string,
  text: string,
  format: TextFormat = detectFormat(file, text),
  limits: TextLimits = FILE_LIMITS,
): StructuredText {
  try {
    return parseStructuredText(text, format, limits);
  } catch (error) {
    if (!(error instanceof InvalidText)) throw error;
    throw new InvalidFile(
      error.violations.map(
        (violation): Diagnostic => ({ ...violation, severity: 'error', path: [], file }),
      ),
    );
  }
}
