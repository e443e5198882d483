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

type Reference = Pick<RunningReference, 'operation'>;

/** The manifest of the reference module for providers of a kind, whose adapter may define `operation`. */
export function describeReference(kind: string, { operation }: Reference): Manifest {
  if (operation === undefined) return REFERENCE_MANIFEST;
  const http_routes = REFERENCE_MANIFEST.http_routes.map((route) => {
    return { ...route, operation: { ...route.operation, [kind]: operation(route) } };
  });
  return { ...REFERENCE_MANIFEST, http_routes };
}

/** The routes of the reference module, with what the adapter reads of each. */
export class ReferenceRoutes {
  readonly all: readonly ProviderRoute[];
  readonly #table = new RouteTable<ProviderRoute>();

  /** @throws AssertionError for an operation that the adapter rejects. */
  constructor(adapter: ProviderAdapter, reference: Reference) {
    const { http_routes } = describeReference(adapter.kind, reference);
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
