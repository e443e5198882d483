import { basename } from 'node:path';
import { compareNames } from '../../lib/compare-texts.js';
import type { CheckReport } from '../check/check-report.js';
import type { HostClient } from '../client/host-client.js';
import {
  type BlastRadius,
  compareModule,
  type ModuleChange,
  type RouteFacts,
  type ServedModule,
} from './blast-radius.js';
import { type LocalModule, listLocalModules } from './local-modules.js';
import { countRecentCalls } from './recent-calls.js';
import { readServedModules } from './served-modules.js';

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
  for (const { name, local, host } of pairModules(report, served)) {
    const change = compareModule(name, local, host);
    if (change !== null) modules.push(await addCalls(change, client));
    else if (host !== null) unchanged.push(name);
  }
  return { url: client.url, modules, unchanged };
}

interface ModulePair {
  readonly name: string;
  readonly local: LocalModule | null;
  readonly host: ServedModule | null;
}

function pairModules(report: CheckReport, served: readonly ServedModule[]): ModulePair[] {
  const [checked] = report.files;
  const local = listLocalModules(report);
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

/** A manifest has a module id, which may be served under several names. */
function pairManifest(
  module: string | null,
  local: ReadonlyMap<string, LocalModule>,
  served: readonly ServedModule[],
): ModulePair[] {
  const checked = module === null ? undefined : local.get(module);
  if (module === null || checked === undefined) return [];
  const hosts = served.filter(({ manifest }) => manifest.module_id === module);
  if (hosts.length === 0) return [{ name: module, local: checked, host: null }];
  return hosts.map((host) => ({ name: host.name, local: checked, host }));
}

/** An invalid file without a readable module name still belongs to the module that the host serves from it. */
function findUnnamed({ files }: CheckReport, host: ServedModule): LocalModule | null {
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
