import { formatMount, type Mount } from '../descriptor/mounts.js';
import { compareTexts } from '../lib/compare-texts.js';
import type { ModuleSlot } from './module-slot.js';
import type { StateReason } from './state-reason.js';

interface NameSettlement {
  readonly named: readonly ModuleSlot[];
  /** The slots that cannot have their name or one of their mounts, with the reason. */
  readonly displaced: ReadonlyMap<ModuleSlot, StateReason>;
}

const MOUNT = 'mount ';

/** The exclusive claims of a file: the name of its module, and each mount. */
export function listClaims(module: string, mounts: readonly Mount[]): readonly string[] {
  return [module, ...mounts.map((mount) => MOUNT + formatMount(mount))];
}

/** Explains why a file is rejected: another file has its claim. */
export function explainTaken(claim: string, owner: string): StateReason {
  if (claim.startsWith(MOUNT)) {
    const reason = `${MOUNT}'${claim.slice(MOUNT.length)}' is already taken by ${owner}`;
    return { reason, hint: 'give one of the two another path or host, or remove it' };
  }
  const reason = `module '${claim}' is already configured by ${owner}`;
  return { reason, hint: 'give one of the two another name, or remove it' };
}

/**
 * Assigns names and mounts to files. Of several files with the same one, the serving file keeps it,
 * otherwise the first by file name.
 * @param holders at startup, by name and mount, the file that already serves in another process
 */
export function settleNames(
  slots: readonly ModuleSlot[],
  holders: ReadonlyMap<string, string>,
): NameSettlement {
  const owners = new Map<string, ModuleSlot>();
  const byFile = slots.toSorted((a, b) => compareTexts(a.file, b.file));
  for (const slot of byFile) {
    const heldClaims = listHeld(slot);
    for (const claim of [...heldClaims, ...listWanted(slot)]) {
      if (heldClaims.includes(claim) || holders.get(claim) === slot.file) owners.set(claim, slot);
    }
  }
  const displaced = new Map<ModuleSlot, StateReason>();
  for (const slot of byFile) {
    const wantedClaims = listWanted(slot);
    const takenClaim = wantedClaims.find((claim) => (owners.get(claim) ?? slot) !== slot);
    const owner = takenClaim === undefined ? undefined : owners.get(takenClaim);
    if (takenClaim !== undefined && owner)
      displaced.set(slot, explainTaken(takenClaim, owner.file));
    else for (const claim of wantedClaims) owners.set(claim, slot);
  }
  const namedSlots = byFile.filter(
    (slot) => slot.source.wantedName !== null && !displaced.has(slot),
  );
  return { named: namedSlots, displaced };
}

/** Whether a file gets a name or a mount under which another one still serves. */
export function hasMovingName(
  namedSlots: readonly ModuleSlot[],
  removed: readonly ModuleSlot[],
): boolean {
  const freed = new Set(removed.flatMap(listServed));
  return namedSlots.some((slot) => {
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

/** The claims under which a slot serves, unless its file now has others. */
function listHeld(slot: ModuleSlot): readonly string[] {
  const wantedClaims = listWanted(slot);
  return listServed(slot).filter((claim) => {
    return slot.source.prepared === null || wantedClaims.includes(claim);
  });
}
