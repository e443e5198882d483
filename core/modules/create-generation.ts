import type { FrozenSlot } from './change-publisher.js';
import type { Generation, LiveModule } from './live-module.js';
import {
  createMountTable,
  type MountTable,
  type MountTableOptions,
  NO_MOUNTS,
} from './mount-table.js';

export function createGeneration(slots: readonly FrozenSlot[]): Generation {
  const generation = new Map<string, LiveModule>();
  for (const { live } of slots) if (live !== null) generation.set(live.name, live);
  return generation;
}

export function createMounts(slots: readonly FrozenSlot[], options: MountTableOptions): MountTable {
  if (slots.every(({ mounts }) => mounts.length === 0)) return NO_MOUNTS;
  return createMountTable(
    slots.map(({ record }) => record),
    options,
  );
}
