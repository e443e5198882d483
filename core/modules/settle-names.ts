import type { Descriptor } from '../descriptor/descriptor.js';
import { listToolNames } from '../descriptor/sections/mcp.js';
import { formatMount, type Mount } from '../descriptor/sections/mount.js';
import { compareTexts } from '../lib/compare-texts.js';
import { forEachInSlices } from '../lib/slices.js';
import type { ModuleSlot } from './module-slot.js';
import type { StateReason } from './state-reason.js';

interface NameSettlement {
  readonly named: readonly ModuleSlot[];
  /** The slots that cannot have their name or one of their mounts, with the reason. */
  readonly displaced: ReadonlyMap<ModuleSlot, StateReason>;
}

const MOUNT = 'mount ';
const TOOL = 'tool ';

/** The exclusive claims of a file: the name of its module, each mount, and each tool that it names. */
export function listClaims(
  module: string,
  mounts: readonly Mount[],
  toolNames: readonly string[] = [],
): readonly string[] {
  // Most modules have none, and there may be thousands.
  if (mounts.length + toolNames.length === 0) return [module];
  const ofMounts = mounts.map((mount) => MOUNT + formatMount(mount));
  return [module, ...ofMounts, ...toolNames.map((name) => TOOL + name)];
}

export function listClaimsOf({ module, mount, mcp }: ClaimingDescriptor): readonly string[] {
  return listClaims(module, mount, [...listToolNames(mcp).values()]);
}

type ClaimingDescriptor = Pick<Descriptor, 'module' | 'mount' | 'mcp'>;

/** Explains why a file is rejected: another file has its claim. */
export function explainTaken(claim: string, owner: string): StateReason {
  if (claim.startsWith(MOUNT)) {
    const reason = `${MOUNT}'${claim.slice(MOUNT.length)}' is already taken by ${owner}`;
    return { reason, hint: 'give one of the two another path or host, or remove it' };
  }
  if (claim.startsWith(TOOL)) {
    const reason = `${TOOL}'${claim.slice(TOOL.length)}' is already named by ${owner}`;
    return { reason, hint: 'give one of the two another name in mcp.tools, or remove it' };
  }
  const reason = `module '${claim}' is already configured by ${owner}`;
  return { reason, hint: 'give one of the two another name, or remove it' };
}

/** A slot with the claims of its file. */
interface Claimant {
  readonly slot: ModuleSlot;
  readonly wanted: readonly string[];
  /** Whether it has got its claims, and is opened. */
  readonly isApplying: boolean;
}

/**
 * Lists slots with the claims of their files, by file name. Takes slices, because there may be
 * thousands: files are not read meanwhile.
 */
export async function listClaimants(
  slots: readonly ModuleSlot[],
  isApplying: (slot: ModuleSlot) => boolean,
): Promise<readonly Claimant[]> {
  const claimants: Claimant[] = [];
  await forEachInSlices(
    slots.toSorted((a, b) => compareTexts(a.file, b.file)),
    (slot) => {
      claimants.push({ slot, wanted: listWanted(slot), isApplying: isApplying(slot) });
    },
  );
  return claimants;
}

/**
 * Assigns names and mounts to files. Of several files with the same one, the serving file keeps it,
 * otherwise the first by file name.
 * @param byFile all slots, in the order of their files
 * @param holders at startup, by name and mount, the file that already serves in another process
 */
export function settleNames(
  byFile: readonly Claimant[],
  holders: ReadonlyMap<string, string>,
): NameSettlement {
  const owners = new Map<string, ModuleSlot>();
  for (const { slot, wanted, isApplying } of byFile) {
    const held = isApplying ? wanted : listHeld(slot, wanted);
    for (const claim of held) owners.set(claim, slot);
    if (holders.size === 0) continue;
    for (const claim of wanted) if (holders.get(claim) === slot.file) owners.set(claim, slot);
  }
  const named: ModuleSlot[] = [];
  const displaced = new Map<ModuleSlot, StateReason>();
  for (const { slot, wanted } of byFile) {
    const takenClaim = wanted.find((claim) => (owners.get(claim) ?? slot) !== slot);
    const owner = takenClaim === undefined ? undefined : owners.get(takenClaim);
    if (takenClaim !== undefined && owner) {
      displaced.set(slot, explainTaken(takenClaim, owner.file));
      continue;
    }
    for (const claim of wanted) owners.set(claim, slot);
    if (slot.source.wantedName !== null) named.push(slot);
  }
  return { named, displaced };
}

/** The slots that exchange a name or a mount: one serves under it, and another one gets it. */
export function listExchanging(
  namedSlots: readonly ModuleSlot[],
  removed: readonly ModuleSlot[],
): ReadonlySet<ModuleSlot> {
  const servers = new Map<string, ModuleSlot>();
  for (const slot of [...namedSlots, ...removed]) {
    for (const claim of listServed(slot)) servers.set(claim, slot);
  }
  const exchanging = new Set<ModuleSlot>();
  for (const slot of namedSlots) {
    for (const claim of listWanted(slot)) {
      const server = servers.get(claim);
      if (server !== undefined && server !== slot) exchanging.add(slot).add(server);
    }
  }
  return exchanging;
}

/**
 * The file to which the module of a removed file has moved if that file is bad: the only new one that
 * names the module. A file that was bad before is not the renamed one, and keeps nothing serving.
 */
export function findBadSuccessor(
  slots: readonly ModuleSlot[],
  removed: ModuleSlot,
  arrived: ReadonlySet<string>,
): ModuleSlot | null {
  const name = removed.live?.name;
  if (name === undefined) return null;
  const [other, ...more] = slots.filter((slot) => {
    return slot !== removed && slot.source.name === name && arrived.has(slot.file);
  });
  const isBad = other?.live === null && other.source.problem !== null;
  return isBad && more.length === 0 ? other : null;
}

/** Whether no other file serves under a name, or wants it. */
export function isNameFree(slots: readonly ModuleSlot[], name: string, file: string): boolean {
  return slots.every((slot) => {
    return slot.file === file || (slot.live?.name !== name && slot.source.wantedName !== name);
  });
}

/** Whether a slot serves under exactly the claims of its file, so that no other file matters. */
export function keepsClaims(slot: ModuleSlot): boolean {
  const served = new Set(listServed(slot));
  const wanted = listWanted(slot);
  return (
    served.size > 0 && served.size === wanted.length && wanted.every((claim) => served.has(claim))
  );
}

export function listWanted({ source: { wantedName, prepared } }: ModuleSlot): readonly string[] {
  return wantedName === null || prepared === null ? [] : listClaimsOf(prepared.descriptor);
}

function listServed({ live }: ModuleSlot): readonly string[] {
  return live === null ? [] : listClaimsOf(live.descriptor);
}

/** The claims under which a slot serves, unless its file now has others. */
function listHeld(slot: ModuleSlot, wanted: readonly string[]): readonly string[] {
  if (slot.source.prepared === null) return listServed(slot);
  return listServed(slot).filter((claim) => wanted.includes(claim));
}
