import type { Position } from './position.js';

/** One error or warning in a file. It never contains a value of the file. */
export interface Diagnostic {
  /** Stable id in kebab-case: `unknown-key`, `route-conflict`. */
  readonly rule: string;
  readonly severity: 'error' | 'warning';
  /** Lower case, names the subject and says what was expected. */
  readonly message: string;
  /** A remedy: `did you mean 'retry'?` */
  readonly hint: string | null;
  /** The location in the document: `['provider', 'config', 'endpoints', 0]`. */
  readonly path: Path;
  readonly file: string;
  /** The line from 1; `null` for a diagnostic about the whole file. */
  readonly line: number | null;
  readonly column: number | null;
}

/** Returns the position of a path in a document; `null` for a document without a text. */
export type Locate = (path: Path, at: PathEnd) => Position | null;

export interface DocumentSource {
  readonly file: string;
  readonly locate: Locate;
  /** The path of the document within `file`: a manifest may be inline in a descriptor. */
  readonly prefix?: Path;
}

export function createDiagnostic(
  violation: Violation,
  source: DocumentSource,
  severity: Diagnostic['severity'] = 'error',
): Diagnostic {
  const path = [...(source.prefix ?? []), ...violation.path];
  const place = source.locate(path, violation.at);
  const { rule, message, hint } = violation;
  const { file } = source;
  const [line, column] = place === null ? [null, null] : [place.line, place.column];
  return { rule, severity, message, hint, path, file, line, column };
}

/** Creates a diagnostic about a whole file: it is missing, or cannot be read. */
export function createFileDiagnostic(file: string, rule: string, message: string): Diagnostic {
  const severity = 'error';
  return { rule, severity, message, hint: null, path: [], file, line: null, column: null };
}

/** Sorts by place and keeps the first 100. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const ascending = diagnostics.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
  return ascending.slice(0, MAX_DIAGNOSTICS);
}

/** `crm.yaml:3:5 unknown key 'retires' (did you mean 'retry'?)` */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, message, hint } = diagnostic;
  const place = line === null ? '' : `:${line}:${column ?? 1}`;
  return `${file}${place} ${message}${hint === null ? '' : ` (${hint})`}`;
}

/** The file is unusable; `diagnostics` has at least one error, in the order of the document. */
export class InvalidFile extends Error {
  override readonly name = 'InvalidFile';
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(
      diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(formatDiagnostic)
        .join('; '),
    );
    this.diagnostics = diagnostics;
  }
}

/** Creates one error for all violations of a document, in its order. */
export function createInvalidFile(
  violations: readonly Violation[],
  source: DocumentSource,
): InvalidFile {
  return new InvalidFile(
    sortDiagnostics(violations.map((violation) => createDiagnostic(violation, source))),
  );
}

export type Path = readonly (string | number)[];

/** The part of an entry that a diagnostic points to: its key (unknown, missing) or its value. */
export type PathEnd = 'key' | 'value';

/** A diagnostic without its file and line. It never contains a value of the document. */
export interface Violation {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
  readonly path: Path;
  readonly at: PathEnd;
  /** The missing key, for `missing-key`. `path` is that of its parent. */
  readonly missing?: string;
}

/** Maximum number of diagnostics reported for one document. */
export const MAX_DIAGNOSTICS = 100;

/** Plain words and keywords such as `$ref`. Other keys may be misplaced secrets: not printed. */
const PRINTABLE_KEY = /^\$?[A-Za-z0-9_.-]{1,64}$/;

export function isPrintableKey(key: string): boolean {
  return PRINTABLE_KEY.test(key);
}

/** `'limits.timeout_ms'`, `'http_routes[0].path'`, or `the document` for the root. */
export function describePath(path: Path): string {
  if (path.length === 0) return 'the document';
  const text = path
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`;
      return isPrintableKey(key) ? `.${key}` : '.?';
    })
    .join('');
  return `'${text.replace(/^\./, '')}'`;
}
