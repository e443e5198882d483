import type { DescribedModule, DescribedRoute } from './described-module.js';

/** The names of a route in the document. */
export interface OperationName {
  readonly operationId: string;
  /** Starts the names of its schemas: no character that a component may not have. */
  readonly component: string;
}

export type OperationNames = ReadonlyMap<DescribedRoute, OperationName>;

/** The order of names, by code unit. */
export function compareNames(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * Names every route of a host, so that no two are equal: of several equal ones the later get `_2`, `_3`.
 * @param modules all of them by name, since a filter of the document must not change names
 */
export function nameOperations(modules: readonly DescribedModule[]): OperationNames {
  const names = new Map<DescribedRoute, OperationName>();
  const operations = new Names();
  const components = new Names();
  for (const { name, routes } of modules) {
    const prefix = name.replaceAll('/', '.');
    for (const route of routes.entries) {
      const own = route.value.declared.operation?.operation_id ?? describeRoute(route);
      const operationId = operations.claim(`${prefix}.${own}`);
      const component = components.claim(operationId.replaceAll(/[^A-Za-z0-9._-]/g, '_'));
      names.set(route, { operationId, component });
    }
  }
  return names;
}

/** `get_contacts_by_id` */
function describeRoute({ method, template }: DescribedRoute): string {
  const parts = template.segments.map((segment) => {
    return segment.kind === 'literal' ? segment.text : `by_${segment.name}`;
  });
  return [method.toLowerCase(), ...parts].join('_');
}

class Names {
  readonly #taken = new Set<string>();
  /** The last number of each name that was wanted several times. */
  readonly #numbers = new Map<string, number>();

  claim(wanted: string): string {
    let name = wanted;
    let number = this.#numbers.get(wanted) ?? 1;
    while (this.#taken.has(name)) {
      number += 1;
      name = `${wanted}_${number}`;
    }
    this.#numbers.set(wanted, number);
    this.#taken.add(name);
    return name;
  }
}
