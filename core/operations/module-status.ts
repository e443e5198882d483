import { injectable } from 'tsyringe';
import type { EndpointStatus } from '../host/endpoint.js';
import type { ModuleRecord } from '../host/module-record.js';
import { inject, MODULE_RECORDS } from '../tokens.js';
import type { CallerRequest } from './caller-request.js';
import { decide } from './decision.js';
import { Answer, type Operation } from './operation.js';

export interface ModuleRecords {
  /** One a descriptor, in the order of their names. */
  list(): readonly ModuleRecord[];
  readonly ignored: readonly { readonly file: string; readonly reason: string }[];
}

/** `GET /modules` (contract 7 and 9): what the host made of each descriptor. */
@injectable()
export class ModuleStatus implements Operation<null> {
  readonly #records: ModuleRecords;

  constructor(@inject(MODULE_RECORDS) records: ModuleRecords) {
    this.#records = records;
  }

  async execute(_input: null, request: CallerRequest): Promise<Answer> {
    const decision = decide(request.actor, { kind: 'scope', scope: 'modgate.modules.read' });
    const modules = this.#records.list().map(describeRecord);
    const ignored = this.#records.ignored;
    return new Answer(decision, Buffer.from(JSON.stringify({ modules, ignored, workers: 1 })));
  }
}

/** The entry on the wire. */
function describeRecord(record: ModuleRecord) {
  const counts = record.live?.guard.counts();
  return {
    name: record.name,
    module_id: record.live?.manifest.module_id ?? null,
    file: record.file,
    state: record.state,
    digest: record.live?.manifestDigest ?? null,
    config_digest: record.live?.configDigest ?? null,
    file_digest: record.fileDigest,
    rejected_digest: record.rejected?.file ?? null,
    rejected_manifest_digest: record.rejected?.manifest ?? null,
    rejected_config_digest: record.rejected?.config ?? null,
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
    endpoints: record.live?.guard.endpoints().map(describeEndpoint) ?? [],
  };
}

function describeEndpoint({ endpoint, state, inFlight, calls, failures, until }: EndpointStatus) {
  return {
    endpoint,
    state,
    in_flight: inFlight,
    calls,
    failures,
    until: until?.toISOString() ?? null,
  };
}
