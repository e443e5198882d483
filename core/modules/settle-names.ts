import { formatMount, type Mount } from '../descriptor/mounts.js';
import { compareTexts } from '../lib/compare-texts.js';
import type { ModuleSlot } from './module-slot.js';
import type { StateReason } from './state-reason.js';

interface NameSettlement {
  readonly named: readonly ModuleSlot[];
  /** Each slot that cannot have its name or one of its mounts, and why. */
  readonly displaced: ReadonlyMap<ModuleSlot, StateReason>;
}

const MOUNT = 'mount ';

/** What only one file can have: the name of its module, and each mount. */
export function listClaims(module: string, mounts: readonly Mount[]): readonly string[] {
  return [module, ...mounts.map((mount) => MOUNT + formatMount(mount))];
}

/** Why a file is rejected whose claim another file has. */
export function explainTaken(claim: string, owner: string): StateReason {
  if (claim.startsWith(MOUNT)) {
    const reason = `${MOUNT}'${claim.slice(MOUNT.length)}' is already taken by ${owner}`;
    return { reason, hint: 'give one of the two another path or host, or remove it' };
  }
  const reason = `module '${claim}' is already configured by ${owner}`;
  return { reason, hint: 'give one of the two another name, or remove it' };
}

/**
 * If several files have the same name or mount, the serving one keeps it, otherwise the first by file name.
 * @param holders at start, by name and mount, the file that already serves in another process
 */
export function settleNames(
  slots: readonly ModuleSlot[],
  holders: ReadonlyMap<string, string>,
): NameSettlement {
  const owners = new Map<string, ModuleSlot>();
  const byFile = slots.toSorted((a, b) => compareTexts(a.file, b.file));
  for (const slot of byFile) {
    const held = listHeld(slot);
    for (const claim of [...held, ...listWanted(slot)]) {
      if (held.includes(claim) || holders.get(claim) === slot.file) owners.set(claim, slot);
    }
  }
  const displaced = new Map<ModuleSlot, StateReason>();
  for (const slot of byFile) {
    const wanted = listWanted(slot);
    const taken = wanted.find((claim) => (owners.get(claim) ?? slot) !== slot);
    const owner = taken === undefined ? undefined : owners.get(taken);
    if (taken !== undefined && owner) displaced.set(slot, explainTaken(taken, owner.file));
    else for (const claim of wanted) owners.set(claim, slot);
  }
  const named = byFile.filter((slot) => slot.source.wantedName !== null && !displaced.has(slot));
  return { named, displaced };
}

/** Whether a file gets a name or a mount under which another one still serves. */
export function hasMovingName(
  named: readonly ModuleSlot[],
  removed: readonly ModuleSlot[],
): boolean {
  const freed = new Set(removed.flatMap(listServed));
  return named.some((slot) => {
    const isGivenUp = listHeld(slot).length < listServed(slot).length;
    return isGivenUp || listWanted(slot).some((claim) => freed.has(claim));
  });
}

function listWanted({ source: { wantedName, mounts } }: ModuleSlot): readonly string[] {
  return wantedName === null ? [] : listClaims(wantedName, mounts);
}

function listServed({ live }: ModuleSlot): readonly string[] {
  return live === null ? [] : listClaims(live.name, live.descriptor.mount);
}

/** What a slot serves under, unless its file now says something else. */
function listHeld(slot: ModuleSlot): readonly string[] {
  const wanted = listWanted(slot);
  return listServed(slot).filter((claim) => {
    return slot.source.prepared === null || wanted.includes(claim);
  });
}
