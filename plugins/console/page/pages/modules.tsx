import { ignoredFiles, modules } from '../live.js';
import { pathTo, query, segments, setQuery } from '../location.js';
import type { ModuleStatus } from '../types.js';
import { ListTable, sortRows } from '../ui/list-table.js';
import { ModulesState, withChosen } from '../ui/modules.js';
import { Empty, FindBox, formatCount, PageHead } from '../ui/parts.js';
import { ModulePage } from './module.js';

const CELLS = {
  name: ({ name, file }: ModuleStatus) =>
    name === null ? <code>{file}</code> : <a href={pathTo('modules', name)}>{name}</a>,
  reason: ({ reason, hint }: ModuleStatus) => (
    <span class="clip wide" title={[reason, hint].filter(Boolean).join('\n')}>
      {reason}
    </span>
  ),
};

export function ModulesPage() {
  const [, name] = segments.value;
  return name === undefined ? <ModuleList /> : <ModulePage name={name} />;
}

function ModuleList() {
  const all = modules.value;
  const find = query.value.get('find') ?? '';
  const state = query.value.get('state') ?? '';
  const sortColumn = query.value.get('sort') ?? 'name';
  const isDescending = query.value.get('order') === 'desc';
  const matching = all?.filter(
    (module) => (state === '' || module.state === state) && matches(module, find.toLowerCase()),
  );
  const rows = matching && sortRows(matching, sortColumn, isDescending);
  const states = withChosen([...new Set(all?.map((module) => module.state))].sort(), state);
  return (
    <>
      <PageHead title="Modules">
        <FindBox placeholder="Name, file or reason" />
        <label class="inline">
          State{' '}
          <select
            value={state}
            onChange={(event) => setQuery({ state: event.currentTarget.value })}
          >
            <option value="">all</option>
            {states.map((name) => (
              <option key={name} value={name}>
                {name.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
        </label>
      </PageHead>
      <ModulesState />
      {all?.length === 0 && (
        <Empty title="No modules yet">
          <code>modgate new module hello</code> writes one into modules.d. It appears here at once.
        </Empty>
      )}
      {all !== undefined && all.length > 0 && rows?.length === 0 && (
        <Empty title="No module matches">Shorten the text, or choose another state.</Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <>
          <p class="fine" role="status">
            {rows.length === all?.length
              ? formatCount(rows.length, 'module')
              : `${rows.length} of ${formatCount(all?.length ?? 0, 'module')}`}
          </p>
          <ListTable
            of="/modules"
            cells={CELLS}
            rows={rows}
            keyOf={({ file }) => file}
            sort={{ by: sortColumn, isDescending }}
            onSort={(id) =>
              setQuery({ sort: id, order: sortColumn === id && !isDescending ? 'desc' : null })
            }
          />
        </>
      )}
      {ignoredFiles.value.length > 0 && (
        <details>
          <summary>
            {ignoredFiles.value.length === 1
              ? '1 file in the folder is ignored'
              : `${ignoredFiles.value.length} files in the folder are ignored`}
          </summary>
          <ul>
            {ignoredFiles.value.map(({ file, reason }) => (
              <li key={file}>
                <code>{file}</code> {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function matches({ name, file, reason }: ModuleStatus, find: string): boolean {
  return find === '' || [name, file, reason].some((text) => text?.toLowerCase().includes(find));
}
