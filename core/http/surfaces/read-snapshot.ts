import type { HostSnapshot, ModuleSnapshot } from '../../contract/index.js';
import { forEachInSlices } from '../../lib/slices.js';
import type { Generation, GenerationSource, LiveModule } from '../../modules/live-module.js';
import { listExposed } from '../../operations/exposed/exposed-operations.js';
import { hideSensitiveDefaults } from '../../operations/status/list-manifests.js';
import type { ModuleEntry, ModuleOverview } from '../../operations/status/module-overview.js';

/** Reads the modules of the whole host, as in `GET /modules` and `GET /manifests`. */
export async function readSnapshot(
  overview: ModuleOverview,
  generations: GenerationSource,
  fleet: string | null,
): Promise<HostSnapshot> {
  const { modules, workers, ignored } = await overview.read();
  const { current } = generations;
  const described: ModuleSnapshot[] = [];
  await forEachInSlices(modules, (entry) => {
    described.push(describe(entry, current));
  });
  return { at: Date.now(), workers, fleet, modules: described, ignored };
}

function describe(entry: ModuleEntry, current: Generation): ModuleSnapshot {
  const { name, file, state, since, reason, hint, owner, counts, endpoints, digest } = entry;
  const live = digest === null || name === null ? undefined : current.get(name);
  return {
    name,
    file,
    state,
    since,
    reason,
    hint,
    ...(owner !== undefined && { owner }),
    counts: {
      calls: counts.calls,
      failed: counts.failed,
      inFlight: counts.in_flight,
      queued: counts.queued,
      ...(counts.streams !== undefined && { streams: counts.streams }),
    },
    endpoints: endpoints.map(({ endpoint, state: endpointState, routes }) => ({
      endpoint,
      state: endpointState,
      routes: routes.map(({ route, state: routeState }) => ({ route, state: routeState })),
    })),
    manifestDigest: digest,
    configDigest: entry.config_digest,
    manifest: live === undefined ? null : hideSensitiveDefaults(live.manifest),
    ...describeExposed(live),
  };
}

function describeExposed(live: LiveModule | undefined): Pick<ModuleSnapshot, 'operations'> {
  const exposed = live === undefined ? [] : [...listExposed(live).values()];
  return exposed.length === 0 ? {} : { operations: exposed.map(({ shown }) => shown) };
}
