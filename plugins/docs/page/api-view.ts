import { ApiDocument, type ApiOperation, asText } from './api-document.js';
import { create, createDetails, createField } from './dom.js';
import { createOperationView } from './operation-view.js';
import type { Caller } from './try-it.js';

/**
 * The maximum number of displayed routes of one module; the filter finds the others. With thousands
 * of them a page would not respond.
 */
const MAX_SHOWN = 200;

/** Shows an OpenAPI document of a host: a filter, and one section per module that opens on demand. */
export function createApiView(root: unknown, caller: Caller): HTMLElement {
  const api = new ApiDocument(root);
  const modules = [...api.listModules()];
  const filter = create('input', { type: 'search', autocomplete: 'off' });
  const list = create('div', { class: 'modules' });
  const count = create('p', { role: 'status' });
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const visibleModules = modules.flatMap(([name, operations]): [string, ApiOperation[]][] => {
      const matching = operations.filter((operation) => matches(operation, words));
      return matching.length === 0 ? [] : [[name, matching]];
    });
    const routes = visibleModules.reduce((sum, [, operations]) => sum + operations.length, 0);
    count.textContent = `${plural(visibleModules.length, 'module')}, ${plural(routes, 'route')}`;
    // A short document is opened at once.
    const isShort = routes <= 40;
    list.replaceChildren(
      ...visibleModules.map(([name, matching]) =>
        createModule(api, name, matching, caller, isShort),
      ),
    );
  };
  filter.addEventListener('input', show);
  show();
  return create('div', { class: 'api' }, createField('Filter', filter), count, list);
}

function matches(
  { module, method, path, operation }: ApiOperation,
  words: readonly string[],
): boolean {
  const texts = [
    module,
    method,
    path,
    asText(operation['summary']),
    asText(operation['operationId']),
  ];
  const all = texts.join(' ').toLowerCase();
  return words.every((word) => all.includes(word));
}

function createModule(
  api: ApiDocument,
  name: string,
  operations: readonly ApiOperation[],
  caller: Caller,
  isOpen: boolean,
): HTMLElement {
  const details = createDetails(
    [create('h2', {}, name), ` ${plural(operations.length, 'route')}`],
    () => createOperations(api, operations, caller),
    { class: 'module', 'data-module': name },
  );
  details.open = isOpen;
  return details;
}

function createOperations(
  api: ApiDocument,
  operations: readonly ApiOperation[],
  caller: Caller,
): HTMLElement[] {
  const visibleOperations = operations.slice(0, MAX_SHOWN);
  const views = visibleOperations.map((entry) => createOperationView(api, entry, caller));
  const rest = operations.length - visibleOperations.length;
  if (rest === 0) return views;
  return [...views, create('p', {}, `and ${plural(rest, 'route')} more: use the filter`)];
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
