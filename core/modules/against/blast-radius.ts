import { isDeepStrictEqual } from 'node:util';
import type { BodyRule, Manifest, ManifestRoute, RouteOperation } from '../../contract/index.js';
import { formatMount } from '../../descriptor/sections/mount.js';
import { FURTHER_PROVIDERS } from '../../descriptor/sections.js';
import { ANONYMOUS } from '../../lib/actor-name.js';
import { isRangeIn } from '../../lib/address-list.js';
import { parseRouteTemplate, templateShape } from '../../lib/routing/route-template.js';
import { forEachInSlices } from '../../lib/slices.js';
import { bodyRuleOf, defaultBodyRule } from '../../manifest/body-rule.js';
import { listPermittedParts } from '../../manifest/list-opened.js';
import { listPublicRoutes } from '../../manifest/list-public-routes.js';
import { isWebSocket, nameRoute } from '../../manifest/stream-rules.js';
import { listSchemaChanges, type SchemaChange } from './compare-schemas.js';
import { listUncheckedBytes } from './list-unchecked-bytes.js';
import type { AccessFacts, CheckedModule, ResponseFacts } from './local-module.js';
import type { OpenedPart } from './opened-part.js';
import { SchemaPairs, TooManyPairs } from './schema-pairs.js';

/** Members of an operation that decide what a call may carry, or who may repeat or approve it. */
const CALL_RULES = [
  ...(['body_types', 'body_max_bytes'] as const),
  ...(['response', 'response_types', 'response_max_bytes'] as const),
  ...(['stream', 'stream_types', 'stream_optional'] as const),
  ...(['encoded', 'idempotency', 'reads', 'danger_level'] as const),
] satisfies readonly (keyof RouteOperation)[];

/** A route for clients, with the members of its operation that have no default value. */
export interface RouteFacts extends Pick<RouteOperation, (typeof CALL_RULES)[number]> {
  readonly method: string;
  readonly path: string;
  readonly capability: string | null;
  /** `null` if the manifest has none. */
  readonly timeout_ms: number | null;
  /** Absent for the default of the method. */
  readonly body?: BodyRule;
}

export interface RemovedRoute extends RouteFacts {
  /** `null` when it is unknown. */
  readonly calls_last_hour: number | null;
  /** The reason why the number is missing or inexact. */
  readonly calls_note: string | null;
}

export interface ChangedRoute {
  readonly before: RouteFacts;
  readonly after: RouteFacts;
  /** Absent if no schema has changed. */
  readonly schemas?: readonly SchemaChange[];
}

/** A mount that a module gains or loses. */
export interface MovedMount {
  /** `/api/orders`, or `api.example/v1` */
  readonly mount: string;
  /** The other module that had it, or gains it; `null` for none. */
  readonly module: string | null;
}

export interface MountOwners {
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

interface ManifestChanges<Removed> {
  readonly capabilities: { readonly added: readonly string[]; readonly removed: readonly string[] };
  /** Absent if every permission opens the same parts. */
  readonly permissions?: {
    readonly added: readonly OpenedPart[];
    readonly removed: readonly OpenedPart[];
  };
  readonly routes: {
    readonly added: readonly RouteFacts[];
    readonly removed: readonly Removed[];
    readonly changed: readonly ChangedRoute[];
  };
}

/**
 * - `changed`: the manifest or the descriptor differs
 * - `unknown`: the file is invalid, or its manifest is not available offline
 */
export type ChangeKind = 'added' | 'removed' | 'changed' | 'unknown';

export interface ModuleChange<Removed = RemovedRoute> extends ManifestChanges<Removed> {
  readonly module: string;
  readonly change: ChangeKind;
  readonly detail: string | null;
  /** Absent if the module keeps its mounts. */
  readonly mounts?: {
    readonly added: readonly MovedMount[];
    readonly removed: readonly MovedMount[];
  };
  /** Absent if clients receive the same parts of each response. */
  readonly responses?: { readonly before: ResponseFacts; readonly after: ResponseFacts };
}

/** The changes in a host if it had the checked files. */
export interface BlastRadius {
  readonly url: string;
  readonly modules: readonly ModuleChange[];
  readonly unchanged: readonly string[];
}

type ComparedManifest = Pick<
  Manifest,
  'capabilities' | 'http_routes' | 'schemas' | 'admin' | 'config'
>;

interface Compared extends ComparedManifest, AccessFacts {}

export interface ServedModule {
  readonly name: string;
  /** The file of its descriptor; `null` when it is unknown. */
  readonly file: string | null;
  readonly configDigest: string | null;
  readonly access: AccessFacts;
  readonly manifest: { readonly module_id: string } & ComparedManifest;
  readonly responses: ResponseFacts;
}

const OPEN: AccessFacts = {
  public: false,
  addresses: null,
  mounts: [],
  taken: [],
  destinations: {},
};
const EMPTY: Compared = { ...OPEN, capabilities: [], http_routes: [] };
export const NOT_COMPARABLE = 'its schemas lead to too many pairs to compare';
const EVERY_ADDRESS = 'every address';

/**
 * Compares one module, without blocking the event loop. Returns `null` if it does not change. A
 * module whose schemas cannot be compared is `unknown`.
 */
export async function compareModule(
  name: string,
  local: CheckedModule | null,
  served: ServedModule | null,
  owners: MountOwners,
): Promise<ModuleChange<RouteFacts> | null> {
  try {
    return await compareKnown(name, local, served, owners);
  } catch (error) {
    if (!(error instanceof TooManyPairs)) throw error;
    return compareKnown(name, { kind: 'unknown', detail: NOT_COMPARABLE }, served, owners);
  }
}

async function compareKnown(
  name: string,
  local: CheckedModule | null,
  served: ServedModule | null,
  owners: MountOwners,
): Promise<ModuleChange<RouteFacts> | null> {
  const create = async (
    change: ChangeKind,
    after: Compared,
    detail: string | null = null,
  ): Promise<ModuleChange<RouteFacts>> => {
    const before = change === 'unknown' ? after : served === null ? EMPTY : joinServed(served);
    // The addresses of an added or removed module are not a separate change.
    const comparable = change === 'changed' ? after : { ...after, addresses: before.addresses };
    const changes = await compareManifests(before, comparable);
    return { module: name, change, detail, ...changes, ...compareMounts(before, after, owners) };
  };
  if (local === null) return create('removed', EMPTY, 'it has no descriptor');
  if (local.kind === 'disabled') {
    return served === null ? null : create('removed', EMPTY, 'enabled is false');
  }
  if (local.kind === 'unknown') {
    return create(served === null ? 'added' : 'unknown', EMPTY, local.detail);
  }
  if (served === null) return create('added', joinLocal(local, null));
  const [before, after] = [joinServed(served), joinLocal(local, served)];
  const mounts = compareMounts(before, after, owners);
  const changes = { ...(await compareManifests(before, after)), ...mounts };
  const responses = compareResponses(served.responses, local.responses);
  if (responses !== null || mounts.mounts !== undefined || hasChanges(changes)) {
    const more = responses === null ? {} : { responses };
    return { module: name, change: 'changed', detail: null, ...changes, ...more };
  }
  if (local.configDigest === null || local.configDigest === served.configDigest) return null;
  return create(
    'changed',
    joinLocal(local, served),
    'the routes and capabilities are the same, but other settings differ',
  );
}

function joinServed(served: ServedModule): Compared {
  return { ...served.manifest, ...served.access };
}

/** A manifest that was checked without its descriptor uses that of the host. */
function joinLocal(
  { manifest, access }: Extract<CheckedModule, { kind: 'known' }>,
  served: ServedModule | null,
): Compared {
  return { ...manifest, ...(access ?? served?.access ?? OPEN) };
}

function compareMounts(before: Compared, after: Compared, owners: MountOwners) {
  const list = (from: Compared, to: Compared, others: ReadonlyMap<string, string>) => {
    return listOtherTexts(from.mounts.map(formatMount), to.mounts.map(formatMount)).map(
      (mount): MovedMount => ({ mount, module: others.get(mount) ?? null }),
    );
  };
  const removed = list(before, after, owners.after);
  const added = list(after, before, owners.before);
  return removed.length + added.length === 0 ? {} : { mounts: { added, removed } };
}

async function compareManifests(
  before: Compared,
  after: Compared,
): Promise<ManifestChanges<RouteFacts>> {
  const beforeRoutes = await indexRoutes(before.http_routes);
  const afterRoutes = await indexRoutes(after.http_routes);
  const changed: ChangedRoute[] = [];
  const pairs = new SchemaPairs();
  for (const [key, route] of afterRoutes) {
    const earlier = beforeRoutes.get(key);
    if (earlier === undefined) continue;
    const schemas = await listSchemaChanges(
      { operation: earlier.operation, shared: before.schemas ?? {} },
      { operation: route.operation, shared: after.schemas ?? {} },
      pairs,
    );
    if (schemas.length === 0 && isDeepStrictEqual(earlier.facts, route.facts)) continue;
    const change = { before: earlier.facts, after: route.facts };
    changed.push(schemas.length === 0 ? change : { ...change, schemas });
  }
  return {
    capabilities: {
      added: listOtherTexts(after.capabilities, before.capabilities),
      removed: listOtherTexts(before.capabilities, after.capabilities),
    },
    ...(await comparePermissions(before, after)),
    routes: {
      added: listOthers(afterRoutes, beforeRoutes),
      removed: listOthers(beforeRoutes, afterRoutes),
      changed,
    },
  };
}

function listOtherTexts(texts: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others);
  return texts.filter((text) => !known.has(text));
}

function compareResponses(before: ResponseFacts, after: ResponseFacts | null) {
  if (after === null) return null;
  const sort = ({ expose_headers, redirects = [] }: ResponseFacts) =>
    [expose_headers.toSorted().join(), redirects.toSorted().join()].join(';');
  const isSame = before.mode === after.mode && sort(before) === sort(after);
  return isSame ? null : { before, after };
}

function hasChanges({ capabilities, permissions, routes }: ManifestChanges<RouteFacts>): boolean {
  const lists = [...Object.values(capabilities), ...Object.values(routes)];
  return permissions !== undefined || lists.some((list) => list.length > 0);
}

async function comparePermissions(before: Compared, after: Compared) {
  const permissions = {
    added: await listOtherParts(after, before),
    removed: await listOtherParts(before, after),
  };
  return Object.values(permissions).every((parts) => parts.length === 0) ? {} : { permissions };
}

async function listOtherParts(manifest: Compared, otherManifest: Compared): Promise<OpenedPart[]> {
  const anonymous = { permission: ANONYMOUS, list: listOpenedToAll };
  const reads = { permission: 'reads', list: listReads };
  const mount = { permission: 'mount', list: ({ taken }: Compared) => taken };
  const sections = [...FURTHER_PROVIDERS.keys()].map((permission) => {
    return { permission, list: ({ destinations }: Compared) => destinations[permission] ?? [] };
  });
  const others = manifest.capabilities.map((permission) => {
    return { permission, list: (side: Compared) => listPermittedParts(permission, side) };
  });
  const parts = listOtherAddresses(manifest.addresses, otherManifest.addresses);
  await forEachInSlices(
    [anonymous, reads, mount, ...sections, ...others],
    ({ permission, list }) => {
      for (const opens of listOtherTexts(list(manifest), list(otherManifest))) {
        parts.push({ permission, opens });
      }
    },
  );
  const bytes = await listUncheckedBytes(manifest.http_routes);
  const known = await listUncheckedBytes(otherManifest.http_routes);
  return [...parts, ...[...bytes].flatMap(([key, part]) => (known.has(key) ? [] : [part]))];
}

/** The ranges that no known range contains. */
function listOtherAddresses(
  addresses: readonly string[] | null,
  otherAddresses: readonly string[] | null,
): OpenedPart[] {
  if (otherAddresses === null) return [];
  const others =
    addresses === null
      ? [EVERY_ADDRESS]
      : addresses.filter((address) => !isRangeIn(address, otherAddresses));
  return others.map((opens) => ({ permission: 'address', opens }));
}

function listOpenedToAll(manifest: Compared): string[] {
  return listPublicRoutes(manifest, manifest);
}

/** Agents may call them where a descriptor exposes what reads, without the approval of a person. */
function listReads({ http_routes }: Compared): string[] {
  return http_routes.filter(({ operation }) => operation?.reads === true).map(nameRoute);
}

interface IndexedRoute {
  readonly facts: RouteFacts;
  readonly operation: RouteOperation | undefined;
}

type RouteIndex = ReadonlyMap<string, IndexedRoute>;

/**
 * Indexes by method and shape, because renaming a parameter does not change which requests match. A
 * WebSocket may stand beside another route of its shape.
 */
async function indexRoutes(routes: readonly ManifestRoute[]): Promise<RouteIndex> {
  const index = new Map<string, IndexedRoute>();
  await forEachInSlices(routes, (route) => {
    const shape = templateShape(parseRouteTemplate(route.path));
    const { operation } = route;
    index.set(`${isWebSocket(route)} ${route.method} ${shape}`, {
      facts: describeRoute(route),
      operation,
    });
  });
  return index;
}

function listOthers(routes: RouteIndex, otherRoutes: RouteIndex): RouteFacts[] {
  return [...routes].flatMap(([key, { facts }]) => (otherRoutes.has(key) ? [] : [facts]));
}

function describeRoute(route: ManifestRoute): RouteFacts {
  const { method, path, capability, operation } = route;
  const body = bodyRuleOf(route);
  return {
    method,
    path,
    capability: capability ?? null,
    timeout_ms: operation?.timeout_ms ?? null,
    ...(body !== defaultBodyRule(route) && { body }),
    ...Object.fromEntries(listRules(operation)),
  };
}

const DEFAULTS: ReadonlySet<unknown> = new Set([undefined, false, 'none']);

/** The order of a list has no meaning. */
function listRules(operation: RouteOperation = {}): [string, unknown][] {
  return CALL_RULES.flatMap((name): [string, unknown][] => {
    const value = operation[name];
    if (DEFAULTS.has(value)) return [];
    return [[name, Array.isArray(value) ? value.toSorted() : value]];
  });
}
