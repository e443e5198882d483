import type { AnyStruct } from '../contract/described.js';
import { FILE_REFERENCE_TYPE, SECRET_REFERENCE_TYPE } from '../contract/index.js';
import type { Path } from './diagnostic.js';
import { validateStruct } from './validate.js';

type ReferenceKind = 'secret' | 'file';

export interface FoundReference {
  readonly kind: ReferenceKind;
  /** As written: `env:NAME`, `file:PATH`, or a path. */
  readonly text: string;
  readonly path: Path;
}

const KINDS = new Map<string, ReferenceKind>([
  [SECRET_REFERENCE_TYPE, 'secret'],
  [FILE_REFERENCE_TYPE, 'file'],
]);

/** The structs of references call it with each text that they accept, in every copy of the contract. */
const LISTENER = Symbol.for('modgate.reference-listener');
const listeners = globalThis as {
  [LISTENER]?: (type: string, text: string, path: Path) => void;
};

/** Every reference of a config; of an invalid one, those that the struct accepts. */
export function findReferences(config: unknown, struct: AnyStruct): FoundReference[] {
  const found = new Map<string, FoundReference>();
  listeners[LISTENER] = (type, text, path) => {
    const kind = KINDS.get(type);
    // A union may try several branches at one place.
    if (kind !== undefined) found.set(JSON.stringify(path), { kind, text, path: [...path] });
  };
  try {
    validateStruct(config, struct);
  } finally {
    delete listeners[LISTENER];
  }
  return [...found.values()];
}
