import canonicalize from 'canonicalize';
import type { Descriptor } from '../descriptor/descriptor.js';
import { descriptorStruct } from '../descriptor/descriptor-struct.js';
import type { Serving } from './slot-state.js';

/** The changed parts of a module: its descriptor, its manifest, the files that it names. */
export function listChanges(before: Serving | null, after: Serving): string[] {
  if (before === null) return ['added'];
  const old = before.version.prepared.descriptor;
  const next = after.version.prepared.descriptor;
  const keys = Object.keys(descriptorStruct.schema) as (keyof Descriptor)[];
  const parts: string[] = keys.filter((key) => canonicalize(old[key]) !== canonicalize(next[key]));
  if (before.manifest.digest !== after.manifest.digest && !parts.includes('manifest')) {
    parts.push('manifest');
  }
  return parts.length > 0 ? parts : ['files'];
}
