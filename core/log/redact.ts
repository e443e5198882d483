import { isSensitiveName } from '../lib/secrets/sensitive-names.js';

type Fields = Record<string, unknown>;

const REDACTED = '[redacted]';
const CUT = '[cut]';
const UNREADABLE = '[unreadable]';

/** Caches results, because a lookup takes a tenth of the time of the regular expressions. */
const sensitivity = new Map<string, boolean>();
const MAX_NAMES = 1000;

/** Headers that hold credentials of callers, in lower case: their names need not look like a secret. */
const credentialNames = new Set<string>();

/**
 * Redacts fields with these names from now on. Called at startup with the headers of the
 * authenticators.
 */
export function redactNames(names: readonly string[]): void {
  for (const name of names) credentialNames.add(name.toLowerCase());
  sensitivity.clear();
}

// Deeper values are a mistake, perhaps a cycle.
const MAX_DEPTH = 6;

/**
 * Redacts sensitive values at any depth and converts errors to plain data. Flat lines without a sensitive
 * name are returned unchanged. pino's `redact` is not used: with wildcards it doubles the cost of a line,
 * and its names are case-sensitive.
 */
export function redactFields(fields: Fields): Fields {
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'object' ? value !== null : isSecret(name, value)) {
      return redactObject(fields, 0);
    }
  }
  return fields;
}

function redactObject(fields: Fields, depth: number): Fields {
  return Object.fromEntries(
    Object.keys(fields).map((name) => [name, redactMember(fields, name, depth)]),
  );
}

function redactMember(fields: Fields, name: string, depth: number): unknown {
  try {
    const value = fields[name];
    return isSecret(name, value) ? REDACTED : redactValue(value, depth + 1);
  } catch {
    // Plugins may log objects whose getters throw.
    return UNREADABLE;
  }
}

/** A text that is not secret, although the name of its field looks like it: the id of a token. */
export class ShownText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toJSON(): string {
    return this.#text;
  }
}

/** Numbers and booleans under a sensitive name (`tokens: 3`) are kept. */
function isSecret(name: string, value: unknown): boolean {
  if (value instanceof ShownText) return false;
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return false;
  let isSensitive = sensitivity.get(name);
  if (isSensitive === undefined) {
    isSensitive = isSensitiveName(name) || credentialNames.has(name.toLowerCase());
    // modgate's own names are few; plugins may use any number.
    if (sensitivity.size < MAX_NAMES) sensitivity.set(name, isSensitive);
  }
  return isSensitive;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return CUT;
  if (value instanceof Error) return describeError(value, depth);
  if (Array.isArray(value)) return value.map((item) => redactValue(item, depth + 1));
  // A Secret, a Date or a URL serializes itself.
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value;
  return redactObject(value as Fields, depth);
}

/** Detects errors such as a full disk or a missing permission, whose message suffices. */
function isSystemError(error: Error): boolean {
  return 'errno' in error && 'syscall' in error && 'code' in error;
}

/** Copies only these properties: libraries attach whole requests, with headers, to errors. */
function describeError(error: Error, depth: number): Fields {
  const { code } = error as { code?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(isSystemError(error) ? {} : { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: redactValue(error.cause, depth + 1) }),
    ...(error instanceof AggregateError
      ? { errors: error.errors.map((inner) => redactValue(inner, depth + 1)) }
      : {}),
  };
}
