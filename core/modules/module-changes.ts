import { isSameJson } from '../contract/canonical-value.js';
import { LISTED_SECTIONS } from '../descriptor/sections.js';
import type { Serving } from './slot-state.js';

/** The changed parts of a module: its descriptor, its manifest, the files that it names. */
export function listChanges(before: Serving | null, after: Serving): string[] {
  if (before === null) return ['added'];
  const old = before.version.prepared.descriptor;
  const next = after.version.prepared.descriptor;
  const parts: string[] = LISTED_SECTIONS.map(([name]) => name).filter(
    (name) => !isSameJson(old[name], next[name]),
  );
  if (before.manifest.digest !== after.manifest.digest && !parts.includes('manifest')) {
    parts.push('manifest');
  }
  return parts.length > 0 ? parts : ['files'];
}
