import { writeTemplate } from '../lib/routing/route-template.js';
import type { DescribedModule, DescribedRoute } from './described-module.js';

export interface OperationName {
  readonly operationId: string;
  /** The prefix of the names of its schemas, in characters that component names may contain. */
  readonly component: string;
}

/** Characters that component names cannot contain. */
export const NOT_IN_COMPONENT = /[^A-Za-z0-9._-]/g;

/**
 * Names every route of a host uniquely: of several equal names the later get `_2`, `_3`. It needs
 * all modules, since a filter of the document must not change names.
 */
export class OperationNames {
  readonly #ids = new Map<DescribedRoute, string>();
  readonly #operations = new UniqueNames();
  /** The operations whose name no component can have. */
  readonly #components = new Map<string, string>();

  /** @param modules by name */
  static of(modules: readonly DescribedModule[]): OperationNames {
    const names = new OperationNames();
    for (const module of modules) names.add(module);
    names.complete();
    return names;
  }

  /** Adds the next module by name. */
  add({ name, routes }: DescribedModule): void {
    const prefix = name.replaceAll('/', '.');
    for (const route of routes.entries) {
      const declaredName = route.value.declared.operation?.operation_id ?? nameRoute(route);
      const operationId = this.#operations.reserve(`${prefix}.${declaredName}`);
      this.#ids.set(route, operationId);
      if (operationId.search(NOT_IN_COMPONENT) !== -1) this.#components.set(operationId, '');
    }
  }

  /** Runs after the last module. */
  complete(): void {
    for (const operationId of this.#components.keys()) {
      const preferred = operationId.replaceAll(NOT_IN_COMPONENT, '_');
      this.#components.set(operationId, this.#operations.reserve(preferred));
    }
  }

  of(route: DescribedRoute): OperationName {
    const operationId = this.#ids.get(route);
    if (operationId === undefined) throw new Error('the route has not been named');
    return { operationId, component: this.#components.get(operationId) ?? operationId };
  }
}

/** `get_contacts_by_id` */
export function nameRoute({ method, template }: DescribedRoute): string {
  const path = template.segments.map((segment) =>
    writeTemplate(
      { segments: [segment] },
      (text) => text,
      ({ name }) => `by_${name}`,
    ).slice(1),
  );
  return [method.toLowerCase(), ...path].join('_');
}

/** Makes names unique: the later of several equal names get `_2`, `_3`. */
export class UniqueNames {
  readonly #taken = new Set<string>();
  /** The last number of each repeated name. */
  readonly #numbers = new Map<string, number>();

  reserve(preferred: string): string {
    if (!this.#taken.has(preferred)) {
      this.#taken.add(preferred);
      return preferred;
    }
    let number = this.#numbers.get(preferred) ?? 1;
    let name = preferred;
    while (this.#taken.has(name)) {
      number += 1;
      name = `${preferred}_${number}`;
    }
    this.#numbers.set(preferred, number);
    this.#taken.add(name);
    return name;
  }
}
