import type { Struct } from 'superstruct';
import { ConfigError } from '../errors.js';
import {
  createInvalidFile,
  type DocumentSource,
  formatDiagnostic,
  InvalidFile,
} from './diagnostic.js';
import { readStructuredText } from './parse-document.js';
import { validateStruct } from './validate.js';

/** A document that a struct has accepted. */
export interface AcceptedDocument<T> {
  /** With the struct's defaults. */
  readonly value: T;
  readonly written: unknown;
  /** For what only the parser can judge. */
  readonly source: DocumentSource;
}

/**
 * Parses a document of one form, JSON or YAML by the name of the file.
 * @throws InvalidFile with the place of each fault.
 */
export function parseByStruct<T, S>(
  file: string,
  text: string,
  struct: Struct<T, S>,
): AcceptedDocument<T> {
  const { value: written, locate } = readStructuredText(file, text);
  const source = { file, locate };
  const { value, faults } = validateStruct(written, struct);
  if (faults.length > 0) throw createInvalidFile(faults, source);
  return { value: value as T, written, source };
}

/** What to throw on: a bad file becomes one line with its first fault, any other error stays. */
export function assertValidFile(error: unknown): unknown {
  if (!(error instanceof InvalidFile)) return error;
  const [first, ...rest] = error.diagnostics.filter(({ severity }) => severity === 'error');
  const line = first === undefined ? error.message : formatDiagnostic(first);
  const more = rest.length === 0 ? '' : `; and ${rest.length} more`;
  return new ConfigError(line + more, { cause: error });
}
