import type { Manifest } from '../contract/index.js';
import type { Fault } from '../document/diagnostic.js';
import { faultAt, findDuplicates } from './manifest-faults.js';

/** Names within the admin data, slots and contributions (contract 5). */
export function judgeAdmin(manifest: Manifest): Fault[] {
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
    ...judgeContributions(manifest),
  ];
}

/** Whether an action of another module exists is known only once all modules are. */
function judgeContributions(manifest: Manifest): Fault[] {
  const actions = new Set(manifest.admin?.actions?.map(nameOf));
  return (manifest.console_contributions ?? []).flatMap(({ action }, index): Fault[] => {
    if (action.module !== manifest.module_id || actions.has(action.name)) return [];
    const path = ['console_contributions', index, 'action', 'name'];
    return [faultAt(path, 'unknown-action', 'names an action that this module does not have')];
  });
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
