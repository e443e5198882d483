import type { Struct } from 'superstruct';
import { ConfigError } from '../errors.js';
import {
  createInvalidFile,
  type DocumentSource,
  formatDiagnostic,
  InvalidFile,
  type Violation,
} from './diagnostic.js';
import { readStructuredText } from './parse-document.js';
import { findRepeated } from './structs.js';
import { validateStruct } from './validate.js';

interface AcceptedDocument<T> {
  /** Includes the struct's defaults. */
  readonly value: T;
  readonly written: unknown;
  /** The source for checks that a struct cannot express. */
  readonly source: DocumentSource;
}

/**
 * Parses a document, JSON or YAML by the file name.
 * @throws InvalidFile with all violations of the struct.
 */
export function parseByStruct<T, S>(
  file: string,
  text: string,
  struct: Struct<T, S>,
): AcceptedDocument<T> {
  const { value: written, locate } = readStructuredText(file, text);
  const source = { file, locate };
  const { value, violations } = validateStruct(written, struct);
  if (violations.length > 0) throw createInvalidFile(violations, source);
  return { value: value as T, written, source };
}

/**
 * @param keys the keys of the entries of a list
 * @throws InvalidFile at the first duplicate key.
 */
export function assertDistinct(
  keys: readonly string[],
  source: DocumentSource,
  {
    list,
    member = [],
    ...repeated
  }: Pick<Violation, 'rule' | 'message' | 'hint'> & {
    readonly list: string;
    readonly member?: readonly string[];
  },
): void {
  const index = findRepeated(keys);
  if (index === null) return;
  const path = [list, index, ...member];
  throw createInvalidFile([{ ...repeated, path, at: 'value' }], source);
}

/** Converts an InvalidFile to a ConfigError with its first error; returns other errors unchanged. */
export function assertValidFile(error: unknown): unknown {
  if (!(error instanceof InvalidFile)) return error;
  const [first, ...rest] = error.diagnostics.filter(({ severity }) => severity === 'error');
  const line = first === undefined ? error.message : formatDiagnostic(first);
  const suffix = rest.length === 0 ? '' : `; and ${rest.length} more`;
  return new ConfigError(line + suffix, { cause: error });
}
