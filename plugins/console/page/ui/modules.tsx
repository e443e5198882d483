import { modules, modulesProblem, readAll } from '../live.js';
import { ResourceState } from './parts.js';

/** Shows the loading state of the list of modules, like `Arrival`. */
export function ModulesState() {
  const problem = modulesProblem.value;
  const reload = () => void readAll();
  return (
    <ResourceState of={{ data: modules.value, problem, isLoading: problem === null, reload }} />
  );
}

/** Chooses one module, or all of them: an empty name. */
export function ModuleSelect({
  value,
  onSelect,
}: {
  value: string;
  onSelect: (name: string) => void;
}) {
  return (
    <label class="inline">
      Module{' '}
      <select value={value} onChange={(event) => onSelect(event.currentTarget.value)}>
        <option value="">all</option>
        {withChosen(modules.value?.map(({ name }) => name) ?? [], value).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

/**
 * Adds the value of a filter to the names that it can have: a link may name one that is gone, and
 * the page must not show `all` while it selects by it.
 */
export function withChosen(names: readonly (string | null)[], value: string): readonly string[] {
  const known = names.filter((name) => name !== null);
  return value === '' || known.includes(value) ? known : [value, ...known];
}
