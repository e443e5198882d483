import type { Position } from './position.js';

/** One thing that is wrong, or doubtful, in a file that ops or authors wrote. Never holds a value of it. */
export interface Diagnostic {
  /** Stable id in kebab-case: `unknown-key`, `route-conflict`. */
  readonly rule: string;
  readonly severity: 'error' | 'warning';
  /** Lower case, names the subject and says what was expected. */
  readonly message: string;
  /** What to do: `did you mean 'retry'?` */
  readonly hint: string | null;
  /** Where in the document: `['provider', 'config', 'endpoints', 0]`. */
  readonly path: Path;
  readonly file: string;
  /** From 1; `null` where the finding is about the file as a whole. */
  readonly line: number | null;
  readonly column: number | null;
}

/** Where a path of a document stands; `null` for a document that no text was made of. */
export type Locate = (path: Path, at: PathEnd) => Position | null;

/** A document as findings name it. */
export interface DocumentSource {
  readonly file: string;
  readonly locate: Locate;
  /** Where the document starts within `file`: a manifest may be inline in a descriptor. */
  readonly prefix?: Path;
}

export function createDiagnostic(
  fault: Violation,
  source: DocumentSource,
  severity: Diagnostic['severity'] = 'error',
): Diagnostic {
  const path = [...(source.prefix ?? []), ...fault.path];
  const place = source.locate(path, fault.at);
  const { rule, message, hint } = fault;
  const { file } = source;
  const [line, column] = place === null ? [null, null] : [place.line, place.column];
  return { rule, severity, message, hint, path, file, line, column };
}

/** A finding about a file as a whole: it is missing, or cannot be read. */
export function createFileDiagnostic(file: string, rule: string, message: string): Diagnostic {
  const severity = 'error';
  return { rule, severity, message, hint: null, path: [], file, line: null, column: null };
}

/** In the order of the document. */
export function sortDiagnostics(findings: readonly Diagnostic[]): Diagnostic[] {
  const ascending = findings.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
  return ascending.slice(0, MAX_DIAGNOSTICS);
}

/** `crm.yaml:3:5 unknown key 'retires' (did you mean 'retry'?)` */
export function formatDiagnostic(finding: Diagnostic): string {
  const place = finding.line === null ? '' : `:${finding.line}:${finding.column ?? 1}`;
  const hint = finding.hint === null ? '' : ` (${finding.hint})`;
  return `${finding.file}${place} ${finding.message}${hint}`;
}

/** A file that cannot be used; `findings` holds at least one error, in the order of the document. */
export class InvalidFile extends Error {
  override readonly name = 'InvalidFile';
  readonly diagnostics: readonly Diagnostic[];

  constructor(findings: readonly Diagnostic[]) {
    super(
      findings
        .filter((finding) => finding.severity === 'error')
        .map(formatDiagnostic)
        .join('; '),
    );
    this.diagnostics = findings;
  }
}

/** All that is wrong with one document, in its order. */
export function createInvalidFile(
  faults: readonly Violation[],
  source: DocumentSource,
): InvalidFile {
  return new InvalidFile(sortDiagnostics(faults.map((fault) => createDiagnostic(fault, source))));
}

export type Path = readonly (string | number)[];

/** Which end of an entry a fault is shown at: its key (unknown, missing) or its value (all others). */
export type PathEnd = 'key' | 'value';

/** Something wrong in a document, before anybody knows in which file it stands. Never holds a value of it. */
export interface Violation {
  readonly rule: string;
  readonly message: string;
  readonly hint: string | null;
  readonly path: Path;
  readonly at: PathEnd;
  /** For `missing-key`: the key, which `path` cannot name since it is not there. */
  readonly missing?: string;
}

/** Faults told of one document: who has more is helped as well by the first ones. */
export const MAX_DIAGNOSTICS = 100;

/** A name that may be printed: what is no plain word may be a secret that slipped into a key. */
const PRINTABLE_KEY = /^[A-Za-z0-9_.-]{1,64}$/;

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
