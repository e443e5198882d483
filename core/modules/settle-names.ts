import { compareTexts } from '../lib/compare-texts.js';
import type { ModuleSlot } from './module-slot.js';

interface NameSettlement {
  readonly named: readonly ModuleSlot[];
  /** Each slot without its name, and the slot that has it. */
  readonly displaced: ReadonlyMap<ModuleSlot, ModuleSlot>;
}

/**
 * If several files have the same name, the serving one keeps it, otherwise the first by file name.
 * @param holders at start, by name, the file that already serves in another process
 */
export function settleNames(
  slots: readonly ModuleSlot[],
  holders: ReadonlyMap<string, string>,
): NameSettlement {
  const owners = new Map<string, ModuleSlot>();
  const byFile = slots.toSorted((a, b) => compareTexts(a.file, b.file));
  for (const slot of byFile) {
    const held = heldName(slot);
    const name = held ?? slot.source.wantedName;
    if (name === null) continue;
    if (held !== null || holders.get(name) === slot.file) owners.set(name, slot);
  }
  const displaced = new Map<ModuleSlot, ModuleSlot>();
  for (const slot of byFile) {
    const { wantedName } = slot.source;
    if (wantedName === null) continue;
    const owner = owners.get(wantedName);
    if (owner === undefined) owners.set(wantedName, slot);
    else if (owner !== slot) displaced.set(slot, owner);
  }
  const named = byFile.filter((slot) => slot.source.wantedName !== null && !displaced.has(slot));
  return { named, displaced };
}

/** Whether a file gets a name under which another one still serves. */
export function hasMovingName(
  named: readonly ModuleSlot[],
  removed: readonly ModuleSlot[],
): boolean {
  const freed = new Set(removed.map(({ live }) => live?.name ?? null));
  return named.some(
    (slot) => (slot.live !== null && heldName(slot) === null) || freed.has(slot.source.wantedName),
  );
}

/** The name under which a slot serves, unless its file now has another one. */
function heldName({ live, source }: ModuleSlot): string | null {
  const name = live?.name ?? null;
  return source.prepared === null || source.wantedName === name ? name : null;
}
