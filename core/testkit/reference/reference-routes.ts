import assert from 'node:assert/strict';
import type {
  Manifest,
  ManifestRoute,
  ProviderAdapter,
  ProviderRoute,
} from '../../contract/index.js';
import { RouteTable } from '../../lib/routing/route-table.js';
import { parseRouteTemplate } from '../../lib/routing/route-template.js';
import { REFERENCE_MANIFEST } from './reference-manifest.js';
import type { RunningReference } from './running-reference.js';

type Reference = Pick<RunningReference, 'operation' | 'carried'>;

/**
 * The manifest of the reference module as providers of an adapter carry it: with its `operation`, and without what it
 * does not support.
 */
export function describeReference(
  { kind, supports }: Pick<ProviderAdapter, 'kind' | 'supports'>,
  { operation, carried }: Reference,
): Manifest {
  const { admin, config, ...others } = REFERENCE_MANIFEST;
  const { routes: http_routes } = carried ?? { routes: others.http_routes };
  return {
    ...others,
    http_routes:
      operation === undefined
        ? http_routes
        : http_routes.map((route) => {
            return { ...route, operation: { ...route.operation, [kind]: operation(route) } };
          }),
    ...(supports.admin === true && { admin }),
    ...(supports.configure === true && { config }),
  };
}

/** The routes of the reference module, with what the adapter reads of each. */
export class ReferenceRoutes {
  readonly all: readonly ProviderRoute[];
  readonly #table = new RouteTable<ProviderRoute>();

  /** @throws AssertionError for an operation that the adapter rejects. */
  constructor(adapter: ProviderAdapter, reference: Reference) {
    const { http_routes } = describeReference(adapter, reference);
    this.all = http_routes.map((declared) => {
      const options = readOptions(adapter, declared);
      return { declared, ...(options !== undefined && { options }) };
    });
    for (const value of this.all) {
      const { method, path } = value.declared;
      this.#table.add({ method, template: parseRouteTemplate(path), value });
    }
  }

  /** The options of the route that a call belongs to; `undefined` for none. */
  optionsOf(method: string, target: string): unknown {
    const [path = '/'] = target.split('?');
    const decoded = path.slice(1).split('/').map(decodeURIComponent);
    const routed = method === 'HEAD' ? 'GET' : method;
    return this.#table.match(routed, decoded)?.value.options;
  }
}

function readOptions({ kind, operation }: ProviderAdapter, route: ManifestRoute): unknown {
  if (operation === undefined) return undefined;
  const value: unknown = Reflect.get(route.operation ?? {}, kind);
  const [error, options] = operation.validate(value, { coerce: true });
  assert.equal(
    error,
    undefined,
    `operation must accept that of ${route.method} ${route.path}: ${error?.message}`,
  );
  return options;
}
