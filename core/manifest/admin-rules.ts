import type { Manifest } from '../contract/index.js';
import type { Violation } from '../document/diagnostic.js';
import { findDuplicates, nameOf, violationAt } from './violation-at.js';

/** Names within the admin data, slots and contributions. */
export function validateAdmin(manifest: Partial<Manifest>): Violation[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  const entityPath = ['admin', 'entities'];
  const actionPath = ['admin', 'actions'];
  return [
    ...findDuplicates(entities, entityPath, nameOf, 'name'),
    ...findDuplicates(actions, actionPath, nameOf, 'name'),
    ...entities.flatMap(({ fields = [] }, index) =>
      findDuplicates(fields, [...entityPath, index, 'fields'], nameOf, 'name'),
    ),
    ...actions.flatMap(({ input_schema }, index) => {
      const path = [...actionPath, index, 'input_schema', 'fields'];
      return findDuplicates(input_schema?.fields ?? [], path, nameOf, 'name');
    }),
    ...findDuplicates(manifest.console_slots ?? [], ['console_slots'], ({ id }) => id, 'id'),
    ...validateContributions(manifest),
  ];
}

/** Only actions of this module: those of others are checked when all modules are known. */
function validateContributions(manifest: Partial<Manifest>): Violation[] {
  const { actions = [] } = manifest.admin ?? {};
  const names = new Set(actions.map(nameOf));
  // A contribution may name a rejected action.
  if (Object.keys(actions).length < actions.length) return [];
  return (manifest.console_contributions ?? []).flatMap(({ action }, index): Violation[] => {
    if (action.module !== manifest.module_id || names.has(action.name)) return [];
    const path = ['console_contributions', index, 'action', 'name'];
    return [violationAt(path, 'unknown-action', 'names an action that this module does not have')];
  });
}
