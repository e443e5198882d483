import type { ModuleStatus } from '../../contract/module-status.js';
import { listCandidateOrigins } from '../../descriptor/candidate.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { SHOWN_MEMBERS } from '../../descriptor/descriptor-struct.js';
import { isPlainEnvelope, type Responses } from '../../descriptor/expose-headers.js';
import { createToken } from '../../injection.js';
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
export interface ModuleList {
  /** The modules, by name. */
  readonly modules: readonly ModuleEntry[];
  readonly ignored: readonly IgnoredFile[];
  /** The number of serving processes. */
  readonly workers: number;
}

export interface ModuleOverview {
  read(): Promise<ModuleList>;
}

export const MODULE_OVERVIEW = createToken<ModuleOverview>('module-overview');

/** The overview of a host with one process. */
export function createModuleOverview(records: ModuleRecords): ModuleOverview {
  return {
    read: async () => ({
      modules: records.list().map(toModuleEntry),
      ignored: records.ignored,
      workers: 1,
    }),
  };
}

/** The state of one descriptor, in wire names. */
export type ModuleEntry = ModuleStatus<ModuleState, EndpointStatus['state']>;

export type EndpointEntry = ModuleEntry['endpoints'][number];

function toModuleEntry(record: ModuleRecord): ModuleEntry {
  const client = record.live?.client;
  const counts = client?.counts();
  return {
    name: record.name,
    module_id: record.live?.manifest.module_id ?? null,
    file: record.file,
    state: record.state,
    ...describeDigests(record),
    ...pickShown(record.descriptor),
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
    ...toCandidateEntry(record.live?.descriptor.candidate),
    ...toResponsesEntry(record.live?.descriptor.responses),
  };
}

/** Absent for fixed endpoints. */
function toResolutionEntry(client: ProviderClient | undefined) {
  const resolution = client?.resolution ?? null;
  if (resolution === null) return {};
  const { resolvedAt, resolveError } = resolution;
  return { resolved_at: resolvedAt?.toISOString() ?? null, resolve_error: resolveError };
}

function toCandidateEntry(candidate: Descriptor['candidate']): Pick<ModuleEntry, 'candidate'> {
  if (candidate === undefined) return {};
  return { candidate: { origins: listCandidateOrigins(candidate.endpoints) } };
}

type Shown = Partial<Pick<ModuleStatus, (typeof SHOWN_MEMBERS)[number]>>;

function pickShown(descriptor: Descriptor | null): Shown {
  if (descriptor === null) return {};
  const shownMembers = SHOWN_MEMBERS.filter(
    (name) => descriptor[name] !== undefined && descriptor[name] !== false,
  );
  return Object.fromEntries(shownMembers.map((name) => [name, descriptor[name]]));
}

/** The entry omits lists that are empty by default. */
type ResponsesEntry = Pick<Responses, 'mode' | 'expose_headers'> & Partial<Responses>;

/** Absent for the envelope without headers of the provider. */
function toResponsesEntry(responses: Responses | undefined): { responses?: ResponsesEntry } {
  if (responses === undefined || isPlainEnvelope(responses)) return {};
  const { origins, redirects, ...always } = responses;
  return {
    responses: {
      ...always,
      ...(origins.length > 0 && { origins }),
      ...(redirects.length > 0 && { redirects }),
    },
  };
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
