import type { AnyStruct } from '../contract/described.js';
import {
  DOCUMENT_REFERENCE_TYPE,
  FILE_REFERENCE_TYPE,
  SECRET_REFERENCE_TYPE,
} from '../contract/index.js';
import type { Path } from './diagnostic.js';
import { type ValidationResult, validateStruct } from './validate.js';

type ReferenceKind = 'secret' | 'file' | 'document';

export interface FoundReference {
  readonly kind: ReferenceKind;
  /** The reference as written: `env:NAME`, `file:PATH`, or a path. */
  readonly text: string;
  readonly path: Path;
  /** The struct of a document or of the value of a secret; `null` for none. */
  readonly struct: AnyStruct | null;
}

const KINDS = new Map<string, ReferenceKind>([
  [SECRET_REFERENCE_TYPE, 'secret'],
  [FILE_REFERENCE_TYPE, 'file'],
  [DOCUMENT_REFERENCE_TYPE, 'document'],
]);

/** The structs of references, in every copy of the contract, call it with each accepted text. */
const LISTENER = Symbol.for('modgate.reference-listener');
const listeners = globalThis as {
  [LISTENER]?: (type: string, text: string, path: Path, struct?: AnyStruct) => void;
};

const found = new WeakMap<object, { struct: AnyStruct; references: readonly FoundReference[] }>();
const NONE: readonly FoundReference[] = [];

/**
 * All references of a config; for an invalid config, those that the struct accepts. Found once: a
 * descriptor needs them several times, and its config does not change.
 */
export function findReferences(config: unknown, struct: AnyStruct): readonly FoundReference[] {
  if (typeof config !== 'object' || config === null) return listenForReferences(config, struct);
  const known = found.get(config);
  if (known?.struct === struct) return known.references;
  const references = listenForReferences(config, struct);
  found.set(config, { struct, references });
  return references;
}

/** Validates a config, and keeps the references of a valid one for `findReferences`. */
export function validateConfig(value: unknown, struct: AnyStruct, prefix: Path): ValidationResult {
  const { result, references } = listen(() => validateStruct(value, struct, prefix));
  const { value: config, violations } = result;
  if (violations.length === 0 && typeof config === 'object' && config !== null) {
    found.set(config, { struct, references });
  }
  return result;
}

function listenForReferences(config: unknown, struct: AnyStruct): readonly FoundReference[] {
  return listen(() => validateStruct(config, struct)).references;
}

function listen<T>(validate: () => T): {
  readonly result: T;
  readonly references: readonly FoundReference[];
} {
  const references = new Map<string, FoundReference>();
  listeners[LISTENER] = (type, text, path, struct) => {
    const kind = KINDS.get(type);
    // A union may try several branches at one path.
    if (kind !== undefined)
      references.set(JSON.stringify(path), { kind, text, path: [...path], struct: struct ?? null });
  };
  try {
    const result = validate();
    return { result, references: references.size === 0 ? NONE : [...references.values()] };
  } finally {
    delete listeners[LISTENER];
  }
}
