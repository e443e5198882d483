import type { LiveModule } from '../../modules/live-module.js';

export type IdentifiedModule = Pick<LiveModule, 'manifest'>;

/** Finds the live module with this `module_id`; returns `null` for none, and for several. */
export function findByModuleId<Module extends IdentifiedModule>(
  generation: ReadonlyMap<string, Module>,
  moduleId: string,
): Module | null {
  const same = [...generation.values()].filter(({ manifest }) => manifest.module_id === moduleId);
  return same.length === 1 ? (same[0] ?? null) : null;
}
