import type { Context } from 'superstruct';
import { FILE_REFERENCE_TYPE, SECRET_REFERENCE, SECRET_REFERENCE_TYPE } from '../contract/index.js';
import type { Path } from './diagnostic.js';
import { contextOf, listChildren, type StructPlace } from './struct-walk.js';

export type ReferenceKind = 'secret' | 'file';

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

/**
 * Structs that hide the one that judges a value. They are asked instead: given something that nothing
 * takes, their failures tell the types that were expected.
 */
const OPAQUE = new Set(['union', 'dynamic', 'lazy', 'intersection']);
const NO_REFERENCES = Number.NaN;

/** Every reference of a config that its struct has accepted. */
export function findReferences(place: StructPlace): FoundReference[] {
  if (typeof place.value === 'string') return findAtText(place, place.value);
  if (typeof place.value !== 'object' || place.value === null) return [];
  if (place.struct.type === 'union') return findWithinUnion(place);
  return listChildren(place).flatMap(findReferences);
}

function findAtText(place: StructPlace, text: string): FoundReference[] {
  const { struct, path } = place;
  const kind = OPAQUE.has(struct.type)
    ? kindOf(struct.validator(NO_REFERENCES, contextOf(place)), path)
    : KINDS.get(struct.type);
  return createReference(kind, text, path);
}

/** A union yields no entries, so each text within it is taken away in turn to see who misses it. */
function findWithinUnion(place: StructPlace): FoundReference[] {
  const context: Context = contextOf(place);
  return listTexts(place.value, []).flatMap(({ path, text }): FoundReference[] => {
    const probe = replaceAt(place.value, path, NO_REFERENCES);
    const full = [...place.path, ...path];
    const kind = kindOf(place.struct.validator(probe, context), full);
    return createReference(kind, text, full);
  });
}

/** A text that only another branch of a union takes is no secret reference. */
function createReference(
  kind: ReferenceKind | undefined,
  text: string,
  path: Path,
): FoundReference[] {
  if (kind === undefined || (kind === 'secret' && !SECRET_REFERENCE.test(text))) return [];
  return [{ kind, text, path }];
}

function kindOf(
  failures: Iterable<{ readonly type: string; readonly path: Path }>,
  path: Path,
): ReferenceKind | undefined {
  const wanted = JSON.stringify(path);
  for (const failure of failures) {
    const kind = KINDS.get(failure.type);
    if (kind !== undefined && JSON.stringify(failure.path) === wanted) return kind;
  }
  return undefined;
}

function listTexts(value: unknown, path: Path): { path: Path; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, member]) =>
    listTexts(member, [...path, isList ? Number(key) : key]),
  );
}

function replaceAt(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  if (Array.isArray(value)) {
    return value.with(Number(key), replaceAt(value[Number(key)], rest, replacement));
  }
  const mapping = value as Record<string, unknown>;
  return { ...mapping, [key]: replaceAt(mapping[key], rest, replacement) };
}
