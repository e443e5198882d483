import type {
  ExposedOperation,
  HostSnapshot,
  Manifest,
  ModuleSnapshot,
} from '../../core/contract/index.js';
import { ModuleTools } from './module-tools.js';
import { nameTools } from './tool-names.js';
import type { ToolSource, ToolTarget } from './tool-source.js';

/** An operation that a module exposes, under the name of its tool. */
export interface CatalogEntry extends ToolSource {
  readonly name: string;
  readonly tools: ModuleTools;
}

/** All tools of a host, before the rights of a caller are checked. */
export class Catalog {
  readonly #byName: ReadonlyMap<string, CatalogEntry>;
  /** The tools of each module, by the id of their operation. */
  readonly modules: ReadonlyMap<string, ReadonlyMap<string, CatalogEntry>>;
  /** Changes with the tools that are visible to callers. */
  readonly version: string;
  /** The operations that are left out, because no name is theirs alone. */
  readonly unnamed: readonly ToolSource[];

  constructor(entries: readonly CatalogEntry[], version: string, unnamed: readonly ToolSource[]) {
    this.version = version;
    this.unnamed = unnamed;
    this.#byName = new Map(entries.map((entry) => [entry.name, entry]));
    const modules = new Map<string, Map<string, CatalogEntry>>();
    for (const entry of entries) {
      const ofModule = modules.get(entry.module) ?? new Map();
      modules.set(entry.module, ofModule.set(entry.operation.id, entry));
    }
    this.modules = modules;
  }

  find(name: string): CatalogEntry | null {
    return this.#byName.get(name) ?? null;
  }

  findOperation(module: string, id: string): CatalogEntry | null {
    return this.modules.get(module)?.get(id) ?? null;
  }
}

/** The operations of a served version; the host keeps the first one as long as the version. */
const versions = new WeakMap<ExposedOperation, readonly UnnamedEntry[]>();

type UnnamedEntry = Omit<CatalogEntry, 'name'>;

export function createCatalog({ modules }: HostSnapshot): Catalog {
  const exposing = modules.filter(({ operations }) => operations !== undefined);
  const entries = exposing.flatMap(readVersion);
  const names = nameTools(
    entries.map(({ module, operation: { id, kind, name, tool } }) => {
      return { module, kind, name: kind === 'route' ? id : name, given: tool?.name };
    }),
  );
  const version = exposing.map(({ name, configDigest }) => `${name} ${configDigest}`).join('\n');
  const named = entries.flatMap((entry, index) => {
    const name = names[index] ?? null;
    return name === null ? [] : [{ ...entry, name }];
  });
  const unnamed = entries.filter((_, index) => names[index] === null);
  return new Catalog(named, version, unnamed);
}

/** What depends on the module alone is kept with its version. */
function readVersion({ name, manifest, operations = [] }: ModuleSnapshot): readonly UnnamedEntry[] {
  const [first] = operations;
  if (name === null || manifest === null || first === undefined) return [];
  const entries = versions.get(first) ?? listEntries(name, manifest, operations);
  versions.set(first, entries);
  return entries;
}

function listEntries(
  module: string,
  manifest: Manifest,
  operations: readonly ExposedOperation[],
): UnnamedEntry[] {
  const targets = indexTargets(manifest);
  const tools = new ModuleTools(manifest);
  return operations.flatMap((operation) => {
    const target = targets.get(`${operation.kind} ${operation.name}`);
    return target === undefined ? [] : [{ module, operation, target, manifest, tools }];
  });
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
