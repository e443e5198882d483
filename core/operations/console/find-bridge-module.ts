import type { ModuleRecord } from '../../modules/module-record.js';
import { findByModuleId, type IdentifiedModule } from './find-by-module-id.js';

export interface NamedRecords {
  list(): readonly Pick<ModuleRecord, 'name'>[];
}

/**
 * Finds a module by configured name, otherwise by a `module_id` that exactly one live module has. A
 * configured name is never treated as a `module_id`, even if its module is not live.
 */
export function findBridgeModule<Module extends IdentifiedModule>(
  generation: ReadonlyMap<string, Module>,
  records: NamedRecords,
  name: string,
): Module | null {
  const configured = generation.get(name);
  if (configured !== undefined) return configured;
  if (records.list().some((record) => record.name === name)) return null;
  return findByModuleId(generation, name);
}
