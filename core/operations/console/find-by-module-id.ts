import type { Generation, LiveModule } from '../../modules/live-module.js';

/** The live module with this `module_id`; `null` if there is none, or more than one. */
export function findByModuleId(generation: Generation, moduleId: string): LiveModule | null {
  const same = [...generation.values()].filter(({ manifest }) => manifest.module_id === moduleId);
  return same.length === 1 ? (same[0] ?? null) : null;
}
