import type {
  AdminAction,
  AdminEntity,
  ExposedOperation,
  HostSnapshot,
  Manifest,
  ManifestRoute,
} from '../../core/contract/index.js';
import { nameTools } from './tool-names.js';

/** The target of a tool. */
type ToolTarget =
  | { readonly kind: 'route'; readonly route: ManifestRoute }
  | { readonly kind: 'entity'; readonly entity: AdminEntity }
  | { readonly kind: 'action'; readonly action: AdminAction };

/** An operation that a module exposes, under the name of its tool. */
export interface CatalogEntry {
  readonly name: string;
  readonly module: string;
  readonly operation: ExposedOperation;
  readonly target: ToolTarget;
  readonly manifest: Manifest;
}

/** All tools of a host, before the rights of a caller are checked. */
export class Catalog {
  readonly #byName: ReadonlyMap<string, CatalogEntry>;
  readonly #byModule = new Map<string, Map<string, CatalogEntry>>();
  /** Changes with the tools that are visible to callers. */
  readonly version: string;

  constructor(entries: readonly CatalogEntry[], version: string) {
    this.version = version;
    this.#byName = new Map(entries.map((entry) => [entry.name, entry]));
    for (const entry of entries) {
      const ofModule = this.#byModule.get(entry.module) ?? new Map();
      this.#byModule.set(entry.module, ofModule.set(entry.operation.id, entry));
    }
  }

  find(name: string): CatalogEntry | null {
    return this.#byName.get(name) ?? null;
  }

  findOperation(module: string, id: string): CatalogEntry | null {
    return this.#byModule.get(module)?.get(id) ?? null;
  }
}

export function createCatalog({ modules }: HostSnapshot): Catalog {
  const exposing = modules.filter(({ operations }) => operations !== undefined);
  const entries = exposing.flatMap(({ name, manifest, operations = [] }) => {
    if (name === null || manifest === null) return [];
    const targets = indexTargets(manifest);
    return operations.flatMap((operation) => {
      const target = targets.get(`${operation.kind} ${operation.name}`);
      return target === undefined ? [] : [{ module: name, operation, target, manifest }];
    });
  });
  const names = nameTools(
    entries.map(({ module, operation: { id, kind, name } }) => {
      return { module, kind, name: kind === 'route' ? id : name };
    }),
  );
  const version = exposing.map(({ name, configDigest }) => `${name} ${configDigest}`).join('\n');
  return new Catalog(
    entries.map((entry, index) => ({ ...entry, name: names[index] ?? '' })),
    version,
  );
}

/** Indexes by kind and name, like operations. */
function indexTargets({ http_routes, admin }: Manifest): Map<string, ToolTarget> {
  const targets = new Map<string, ToolTarget>();
  for (const route of http_routes) {
    targets.set(`route ${route.method} ${route.path}`, { kind: 'route', route });
  }
  for (const entity of admin?.entities ?? []) {
    targets.set(`entity ${entity.name}`, { kind: 'entity', entity });
  }
  for (const action of admin?.actions ?? []) {
    targets.set(`action ${action.name}`, { kind: 'action', action });
  }
  return targets;
}
