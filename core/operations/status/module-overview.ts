import type { ModuleStatus, ModuleStatusList } from '../../contract/module-status.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { listLearnedScopes } from '../../descriptor/sections/identity.js';
import { LISTED_SECTIONS, type ShownMembers } from '../../descriptor/sections.js';
import { createToken } from '../../injection.js';
import { forEachInSlices } from '../../lib/slices.js';
import {
  describeDigests,
  type ModuleRecord,
  type ModuleState,
} from '../../modules/module-record.js';
import type { EndpointStatus } from '../../provider/endpoint.js';
import type { ProviderClient } from '../../provider/provider-client.js';
import type { IgnoredFile } from '../../watch/directory.js';

export interface ModuleRecords {
  /** One record for each descriptor, by name. */
  list(): readonly ModuleRecord[];
  readonly ignored: readonly IgnoredFile[];
}

/** The descriptors of the whole host, over all its processes. */
export type ModuleList = ModuleStatusList<ModuleEntry>;

export interface ModuleOverview {
  read(): Promise<ModuleList>;
}

export const MODULE_OVERVIEW = createToken<ModuleOverview>('module-overview');

/** The state of one descriptor, in wire names. */
export type ModuleEntry = ModuleStatus<ModuleState, EndpointStatus['state']>;

export type EndpointEntry = ModuleEntry['endpoints'][number];

/** Describes the modules without blocking the event loop, since there may be thousands. */
export async function describeModules(records: readonly ModuleRecord[]): Promise<ModuleEntry[]> {
  const counts = new Map<string, number>();
  await forEachInSlices(records, ({ live }) => {
    for (const scope of live?.manifest.capabilities ?? []) {
      counts.set(scope, (counts.get(scope) ?? 0) + 1);
    }
  });
  const entries: ModuleEntry[] = [];
  await forEachInSlices(records, (record) => {
    entries.push({ ...toModuleEntry(record), ...toIdentityEntry(record, counts) });
  });
  return entries;
}

/** Absent for a module without `modgate-identity`. */
function toIdentityEntry(
  { live }: ModuleRecord,
  counts: ReadonlyMap<string, number>,
): Pick<ModuleEntry, 'identity'> {
  if (!live?.descriptor.identity) return {};
  const scopes = listLearnedScopes(live.descriptor.identity, live.manifest.capabilities);
  return { identity: { scopes, shared: scopes.filter((scope) => (counts.get(scope) ?? 0) > 1) } };
}

function toModuleEntry(record: ModuleRecord): ModuleEntry {
  const client = record.live?.client;
  const counts = client?.counts();
  return {
    name: record.name,
    module_id: record.live?.manifest.module_id ?? null,
    file: record.file,
    state: record.state,
    ...describeDigests(record),
    ...showSections('file', record.descriptor),
    console: {
      release: record.descriptor?.console.release ?? record.live?.manifestDigest ?? null,
      ui: record.descriptor?.console.ui ?? [],
      grants: record.descriptor?.console.grants ?? [],
    },
    since: record.since.toISOString(),
    ...(record.mounts.length > 0 && { mounts: record.mounts }),
    reason: record.reason,
    hint: record.hint,
    attempts: record.attempts,
    counts: {
      calls: client?.totals.calls ?? 0,
      failed: client?.totals.failed ?? 0,
      in_flight: counts?.inFlight ?? 0,
      queued: counts?.queued ?? 0,
      ...(client !== undefined && client.openStreams > 0 && { streams: client.openStreams }),
    },
    endpoints: record.live?.client.endpoints().map(toEndpointEntry) ?? [],
    ...toResolutionEntry(client),
    ...toFactsEntry(client),
    ...showSections('served', record.live?.descriptor ?? null),
  };
}

/** Absent for fixed endpoints. */
function toResolutionEntry(client: ProviderClient | undefined) {
  const resolution = client?.resolution ?? null;
  if (resolution === null) return {};
  const { resolvedAt, resolveError } = resolution;
  return { resolved_at: resolvedAt?.toISOString() ?? null, resolve_error: resolveError };
}

function toFactsEntry(client: ProviderClient | undefined): Pick<ModuleEntry, 'facts'> {
  const facts = client?.facts() ?? [];
  return facts.length === 0 ? {} : { facts };
}

/** What is shown of each descriptor, which does not change. */
const shownMembers = {
  file: new WeakMap<Descriptor, ShownMembers>(),
  served: new WeakMap<Descriptor, ShownMembers>(),
};

function showSections(of: 'file' | 'served', descriptor: Descriptor | null): ShownMembers {
  if (descriptor === null) return {};
  const members = shownMembers[of].get(descriptor) ?? readSections(of, descriptor);
  shownMembers[of].set(descriptor, members);
  return members;
}

function readSections(of: 'file' | 'served', descriptor: Descriptor): ShownMembers {
  return Object.fromEntries(
    LISTED_SECTIONS.flatMap(([name, { shown }]) => {
      const value = descriptor[name];
      const isShown = shown?.of === of && value !== undefined;
      const part = isShown ? shown.read(value, descriptor) : undefined;
      return part === undefined || part === false ? [] : [[name, part]];
    }),
  );
}

function toEndpointEntry(status: EndpointStatus) {
  const { endpoint, state, inFlight, calls, failures, until, routes } = status;
  return {
    endpoint,
    state,
    in_flight: inFlight,
    calls,
    failures,
    until: until?.toISOString() ?? null,
    routes: routes.map((route) => ({ ...route, until: route.until?.toISOString() ?? null })),
  };
}
