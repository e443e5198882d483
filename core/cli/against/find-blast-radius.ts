import { basename } from 'node:path';
import { any, array, type Infer, is, nullable, optional, string, type } from 'superstruct';
import { formatMount, type Mount } from '../../descriptor/sections/mount.js';
import { FURTHER_PROVIDERS } from '../../descriptor/sections.js';
import { compareNames } from '../../lib/compare-texts.js';
import { parseRouteTemplate, TemplateError } from '../../lib/routing/route-template.js';
import {
  type BlastRadius,
  compareModule,
  type ModuleChange,
  type MountOwners,
  type RouteFacts,
  type ServedModule,
} from '../../modules/against/blast-radius.js';
import { formatChanges } from '../../modules/against/format-changes.js';
import {
  type CheckedModule,
  listNestedMounts,
  type ResponseFacts,
} from '../../modules/against/local-module.js';
import { type ListedModule, moduleList } from '../../operations/status/module-struct.js';
import { listMounts } from '../check/check-descriptors.js';
import type { CheckReport } from '../check/check-report.js';
import { PAGE_LIMIT, readCallPages } from '../client/call-pages.js';
import type { HostClient } from '../client/host-client.js';
import { RejectedRequest, requestJson } from '../client/host-response.js';
import { CommandError } from '../command-error.js';
import { formatBlocks } from '../output/escape.js';
import { listLocalModules } from './local-modules.js';

/** The parts of a response that the envelope excludes. */
const ENVELOPE: ResponseFacts = { mode: 'envelope', expose_headers: [] };

const manifestList = type({
  manifests: array(
    type({
      name: string(),
      digest: string(),
      manifest: type({
        module_id: string(),
        capabilities: array(string()),
        http_routes: array(
          type({
            method: string(),
            path: string(),
            capability: optional(string()),
            access: optional(string()),
            operation: any(),
          }),
        ),
        schemas: optional(any()),
        admin: optional(
          type({
            entities: optional(array(type({ name: string(), read_capability: string() }))),
            actions: optional(array(type({ name: string(), capability: string() }))),
          }),
        ),
        config: optional(
          type({
            read_capability: optional(string()),
            write_capability: optional(string()),
            fields: optional(array(any())),
          }),
        ),
      }),
    }),
  ),
});

/**
 * Finds the changes in a running host if it had the checked files.
 * @throws CommandError when the host is unreachable or rejects the request.
 */
export async function findBlastRadius(
  report: CheckReport,
  client: HostClient,
): Promise<BlastRadius> {
  const served = await readServedModules(client);
  const modules: ModuleChange[] = [];
  const unchanged: string[] = [];
  const pairs = pairModules(report, served);
  const owners = findMountOwners(pairs, served);
  for (const { name, local, host } of pairs) {
    const change = await compareModule(name, local, host, owners);
    if (change !== null) modules.push(await addCalls(change, client));
    else if (host !== null) unchanged.push(name);
  }
  return { url: client.url, modules, unchanged };
}

/** The owners of the mounts now and afterwards. Modules outside the check stay unchanged. */
function findMountOwners(
  pairs: readonly ModulePair[],
  served: readonly ServedModule[],
): MountOwners {
  const checked = new Set(pairs.map(({ name }) => name));
  const entries = (name: string, mounts: readonly Mount[] = []) =>
    mounts.map((mount) => [formatMount(mount), name] as const);
  const isKept = ({ name }: ServedModule) => !checked.has(name);
  return {
    before: new Map(served.flatMap(({ name, access }) => entries(name, access.mounts))),
    after: new Map([
      ...served.filter(isKept).flatMap(({ name, access }) => entries(name, access.mounts)),
      ...pairs.flatMap(({ name, local }) =>
        local?.kind === 'known' ? entries(name, local.access?.mounts) : [],
      ),
    ]),
  };
}

interface ModulePair {
  readonly name: string;
  readonly local: CheckedModule | null;
  readonly host: ServedModule | null;
}

function pairModules(report: CheckReport, served: readonly ServedModule[]): ModulePair[] {
  const [checked] = report.files;
  const others = report.isFolder
    ? []
    : listMounts(served.map(({ name, access }) => ({ module: name, mounts: access.mounts })));
  const local = listLocalModules(report, others);
  if (checked?.kind === 'manifest') return pairManifest(checked.module, local, served);
  const byName = new Map(served.map((module) => [module.name, module]));
  const pairs = [...local].map(([name, module]): ModulePair => {
    return { name, local: module, host: byName.get(name) ?? null };
  });
  if (!report.isFolder) return pairs;
  for (const host of served) {
    if (local.has(host.name)) continue;
    pairs.push({ name: host.name, local: findUnnamed(report, host), host });
  }
  return pairs.sort(compareNames);
}

/** Pairs manifests by module id, because a module may be served under several names. */
function pairManifest(
  module: string | null,
  local: ReadonlyMap<string, CheckedModule>,
  served: readonly ServedModule[],
): ModulePair[] {
  const checked = module === null ? undefined : local.get(module);
  if (module === null || checked === undefined) return [];
  const hosts = served.filter(({ manifest }) => manifest.module_id === module);
  if (hosts.length === 0) return [{ name: module, local: checked, host: null }];
  return hosts.map((host) => ({ name: host.name, local: checked, host }));
}

/** An invalid file without a readable module name still belongs to the module that the host serves from it. */
function findUnnamed({ files }: CheckReport, host: ServedModule): CheckedModule | null {
  const isUnnamed = files.some(
    ({ file, module }) => module === null && basename(file) === host.file,
  );
  return isUnnamed ? { kind: 'unknown', detail: 'its file has errors' } : null;
}

async function addCalls(
  change: ModuleChange<RouteFacts>,
  client: HostClient,
): Promise<ModuleChange> {
  const { removed } = change.routes;
  const calls = removed.length === 0 ? null : await countRecentCalls(client, change.module);
  return {
    ...change,
    routes: {
      ...change.routes,
      removed: removed.map((route) => ({
        ...route,
        calls_last_hour: calls?.byRoute
          ? (calls.byRoute.get(`${route.method} ${route.path}`) ?? 0)
          : null,
        calls_note: calls?.note ?? null,
      })),
    },
  };
}

const CALLS_WINDOW_MS = 3_600_000;
/** A hundred thousand calls are enough to show that a route is in use. */
const MAX_PAGES = 100;

const NOT_FOUND = 404;
const FORBIDDEN = 403;

const callsPage = type({
  calls: array(type({ method: string(), route: nullable(string()) })),
  next_cursor: optional(nullable(string())),
});

interface RecentCalls {
  /** The number by `GET /contacts/{id}`; `null` when it is unknown. */
  readonly byRoute: ReadonlyMap<string, number> | null;
  /** The reason why the numbers are missing or incomplete. */
  readonly note: string | null;
}

/** @throws CommandError when the host is unreachable. */
async function countRecentCalls(client: HostClient, module: string): Promise<RecentCalls> {
  const since = new Date(Date.now() + client.clockSkewMs - CALLS_WINDOW_MS).toISOString();
  const byRoute = new Map<string, number>();
  let pages = 0;
  try {
    for await (const calls of readCallPages(client, { module, since }, callsPage)) {
      if (pages === MAX_PAGES) {
        const note = `at least: only the last ${pages * PAGE_LIMIT} calls were counted`;
        return { byRoute, note };
      }
      for (const { method, route } of calls) countCall(byRoute, method, route);
      pages += 1;
    }
    return { byRoute, note: null };
  } catch (error) {
    return { byRoute: null, note: explainRejection(error) };
  }
}

/** HEAD requests count for the GET route, which serves them. */
function countCall(byRoute: Map<string, number>, method: string, route: string | null): void {
  if (route === null) return;
  const key = `${method === 'HEAD' ? 'GET' : method} ${route}`;
  byRoute.set(key, (byRoute.get(key) ?? 0) + 1);
}

function explainRejection(error: unknown): string {
  if (!(error instanceof RejectedRequest)) throw error;
  if (error.status === NOT_FOUND) return 'unknown: the host keeps no call records';
  if (error.status === FORBIDDEN) return 'unknown: the token lacks the scope modgate.calls.read';
  return `unknown: GET /calls returned ${error.status}`;
}

/** @throws CommandError when the host is unreachable or rejects the request. */
async function readServedModules(client: HostClient): Promise<ServedModule[]> {
  const { manifests } = await requestJson(client, '/manifests', manifestList);
  const { modules } = await requestJson(client, '/modules', moduleList);
  const byName = new Map(
    modules.filter(({ digest }) => digest !== null).map((module) => [module.name, module]),
  );
  const mounts = listMounts(modules.map(({ name: module, mounts = [] }) => ({ module, mounts })));
  return manifests.map(({ name, manifest }) => {
    const module = byName.get(name);
    return {
      name,
      file: module?.file ?? null,
      configDigest: module?.config_digest ?? null,
      access: {
        public: module?.public ?? false,
        addresses: module?.allow?.addresses ?? null,
        mounts: module?.mounts ?? [],
        taken: listNestedMounts(name, mounts),
        destinations: readDestinations(module),
      },
      manifest: readManifest(client, manifest),
      responses: module?.responses ?? ENVELOPE,
    };
  });
}

const furtherProvider = type({ origins: array(string()) });

function readDestinations(
  module: ListedModule | undefined,
): ServedModule['access']['destinations'] {
  const shown: Readonly<Record<string, unknown>> = { ...module };
  return Object.fromEntries(
    [...FURTHER_PROVIDERS.keys()].map((section) => {
      const provider = shown[section];
      return [section, is(provider, furtherProvider) ? provider.origins : []];
    }),
  );
}

type ServedManifest = Infer<typeof manifestList>['manifests'][number]['manifest'];

/** The host has validated the manifest. A newer host may allow more than this version. */
function readManifest(client: HostClient, manifest: ServedManifest): ServedModule['manifest'] {
  try {
    for (const { path } of manifest.http_routes) parseRouteTemplate(path);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new CommandError(`${client.url} serves a manifest that this version does not support`);
  }
  return manifest as ServedModule['manifest'];
}

/** Lists added (+), removed (-) and changed (~) modules and routes. */
export function formatBlastRadius({ url, ...changes }: BlastRadius): string {
  return formatBlocks([`against ${url}:`, ...formatChanges(changes)]);
}
