import { writeTemplate } from '../lib/routing/route-template.js';
import type { DescribedModule, DescribedRoute } from './described-module.js';

/** The names of a route in the document. */
export interface OperationName {
  readonly operationId: string;
  /** Starts the names of its schemas: no character that a component may not have. */
  readonly component: string;
}

const NOT_IN_COMPONENT = /[^A-Za-z0-9._-]/g;

/**
 * Names every route of a host, so that no two are equal: of several equal ones the later get `_2`, `_3`. It needs
 * all modules, since a filter of the document must not change names.
 */
export class OperationNames {
  readonly #ids = new Map<DescribedRoute, string>();
  readonly #operations = new UniqueNames();
  /** The operations whose own name no component can have. */
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
      const declaredName = route.value.declared.operation?.operation_id ?? describeRoute(route);
      const operationId = this.#operations.claim(`${prefix}.${declaredName}`);
      this.#ids.set(route, operationId);
      if (operationId.search(NOT_IN_COMPONENT) !== -1) this.#components.set(operationId, '');
    }
  }

  /** Runs after the last module. */
  complete(): void {
    for (const operationId of this.#components.keys()) {
      const wanted = operationId.replaceAll(NOT_IN_COMPONENT, '_');
      this.#components.set(operationId, this.#operations.claim(wanted));
    }
  }

  of(route: DescribedRoute): OperationName {
    const operationId = this.#ids.get(route);
    if (operationId === undefined) throw new Error('the route has not been named');
    return { operationId, component: this.#components.get(operationId) ?? operationId };
  }
}

/** `get_contacts_by_id` */
export function describeRoute({ method, template }: DescribedRoute): string {
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
  /** The last number of each name that was wanted several times. */
  readonly #numbers = new Map<string, number>();

  claim(wanted: string): string {
    if (!this.#taken.has(wanted)) {
      this.#taken.add(wanted);
      return wanted;
    }
    let number = this.#numbers.get(wanted) ?? 1;
    let name = wanted;
    while (this.#taken.has(name)) {
      number += 1;
      name = `${wanted}_${number}`;
    }
    this.#numbers.set(wanted, number);
    this.#taken.add(name);
    return name;
  }
}
