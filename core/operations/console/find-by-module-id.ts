import type { LiveModule } from '../../modules/live-module.js';

export type IdentifiedModule = Pick<LiveModule, 'manifest'>;

/** The live module with this `module_id`; `null` if there is none, or more than one. */
export function findByModuleId<Module extends IdentifiedModule>(
  generation: ReadonlyMap<string, Module>,
  moduleId: string,
): Module | null {
  const same = [...generation.values()].filter(({ manifest }) => manifest.module_id === moduleId);
  return same.length === 1 ? (same[0] ?? null) : null;
}
