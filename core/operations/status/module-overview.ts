import type { ResponseMode, Responses } from '../../descriptor/descriptor.js';
import { isPlainEnvelope } from '../../descriptor/expose-headers.js';
import { createToken } from '../../injection.js';
import { describeDigests, type ModuleRecord } from '../../modules/module-record.js';
import type { EndpointStatus } from '../../provider/endpoint.js';

export interface ModuleRecords {
  /** One for each descriptor, by name. */
  list(): readonly ModuleRecord[];
  readonly ignored: readonly IgnoredEntry[];
}

interface IgnoredEntry {
  readonly file: string;
  readonly reason: string;
}

/** The descriptors of the whole host, over all its processes. */
export interface ModuleList {
  /** By name. */
  readonly modules: readonly ModuleEntry[];
  readonly ignored: readonly IgnoredEntry[];
  /** The number of serving processes. */
  readonly workers: number;
}

export interface ModuleOverview {
  read(): Promise<ModuleList>;
}

export const MODULE_OVERVIEW = createToken<ModuleOverview>('module-overview');

export const MODULE_RECORDS = createToken<ModuleRecords>('module-records');

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
export type ModuleEntry = ReturnType<typeof toModuleEntry>;

export type EndpointEntry = ModuleEntry['endpoints'][number];

export function toModuleEntry(record: ModuleRecord) {
  const counts = record.live?.client.counts();
  return {
    name: record.name,
    module_id: record.live?.manifest.module_id ?? null,
    file: record.file,
    state: record.state,
    ...describeDigests(record),
    console: {
      release: record.descriptor?.console.release ?? record.live?.manifestDigest ?? null,
      ui: record.descriptor?.console.ui ?? [],
      grants: record.descriptor?.console.grants ?? [],
    },
    since: record.since.toISOString(),
    reason: record.reason,
    hint: record.hint,
    attempts: record.attempts,
    counts: {
      calls: counts?.calls ?? 0,
      failed: counts?.failed ?? 0,
      in_flight: counts?.inFlight ?? 0,
      queued: counts?.queued ?? 0,
    },
    endpoints: record.live?.client.endpoints().map(toEndpointEntry) ?? [],
    ...toResponsesEntry(record.live?.descriptor.responses),
  };
}

interface ResponsesEntry {
  readonly mode: ResponseMode;
  readonly expose_headers: readonly string[];
}

/** Absent for the envelope without headers of the provider. */
function toResponsesEntry(responses: Responses | undefined): { responses?: ResponsesEntry } {
  if (responses === undefined || isPlainEnvelope(responses)) return {};
  return { responses: { mode: responses.mode, expose_headers: responses.exposeHeaders } };
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
    routes: routes.map((one) => ({ ...one, until: one.until?.toISOString() ?? null })),
  };
}
