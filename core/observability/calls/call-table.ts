import type { CallRecord } from '../../operations/status/call-record.js';
import { type CompletedRequest, roundMs, roundMsOrNull } from '../completed-request.js';

/** Request and correlation ids are at most 128 ASCII characters, trace ids 32. */
const MAX_ID_LENGTH = 128;
const TRACE_ID_LENGTH = 32;
const IDS_LENGTH = 2 * MAX_ID_LENGTH + TRACE_ID_LENGTH;

type TabledCall = Omit<CallRecord, 'captured'>;

/**
 * Calls in preallocated memory, overwritten in place. As objects with their own strings, ten thousand calls
 * would live long enough to be copied twice by the garbage collector and cause full collections. Names of
 * modules, routes and actors are shared by reference.
 */
export class CallTable {
  readonly #at: Float64Array;
  readonly #durationMs: Float64Array;
  /** NaN where there was none. */
  readonly #providerMs: Float64Array;
  readonly #status: Uint16Array;
  readonly #attempts: Uint16Array;
  /** Request, correlation and trace id, concatenated. */
  readonly #ids: Buffer;
  readonly #requestIdLength: Uint8Array;
  readonly #correlationIdLength: Uint8Array;
  /** 0 where there was none. */
  readonly #traceIdLength: Uint8Array;
  readonly #methods: string[];
  readonly #modules: TabledCall['module'][];
  readonly #routes: TabledCall['route'][];
  readonly #endpoints: TabledCall['endpoint'][];
  readonly #failures: TabledCall['failure'][];
  readonly #failureDetails: TabledCall['failure_detail'][];
  readonly #actors: TabledCall['actor'][];
  readonly #surfaces: TabledCall['surface'][];

  constructor(capacity: number) {
    this.#at = new Float64Array(capacity);
    this.#durationMs = new Float64Array(capacity);
    this.#providerMs = new Float64Array(capacity);
    this.#status = new Uint16Array(capacity);
    this.#attempts = new Uint16Array(capacity);
    this.#ids = Buffer.alloc(capacity * IDS_LENGTH);
    this.#requestIdLength = new Uint8Array(capacity);
    this.#correlationIdLength = new Uint8Array(capacity);
    this.#traceIdLength = new Uint8Array(capacity);
    this.#methods = new Array(capacity).fill('');
    this.#modules = new Array(capacity).fill(null);
    this.#routes = new Array(capacity).fill(null);
    this.#endpoints = new Array(capacity).fill(null);
    this.#failures = new Array(capacity).fill(null);
    this.#failureDetails = new Array(capacity).fill(null);
    this.#actors = new Array(capacity).fill(null);
    this.#surfaces = new Array(capacity).fill(null);
  }

  write(place: number, completed: CompletedRequest): void {
    const { requestId, correlationId, facts } = completed;
    const traceId = facts.traceId ?? '';
    this.#at[place] = completed.completedAt;
    this.#durationMs[place] = completed.durationMs;
    this.#providerMs[place] = facts.providerMs ?? Number.NaN;
    this.#status[place] = completed.status;
    this.#attempts[place] = facts.attempts;
    this.#ids.write(requestId + correlationId + traceId, place * IDS_LENGTH, IDS_LENGTH, 'latin1');
    this.#requestIdLength[place] = requestId.length;
    this.#correlationIdLength[place] = correlationId.length;
    this.#traceIdLength[place] = traceId.length;
    this.#methods[place] = completed.method;
    this.#modules[place] = facts.module;
    this.#routes[place] = facts.route;
    this.#endpoints[place] = facts.endpoint;
    this.#failures[place] = facts.failure;
    this.#failureDetails[place] = facts.failureDetail;
    this.#actors[place] = completed.actor;
    this.#surfaces[place] = facts.surface;
  }

  /** Milliseconds since 1970. */
  at(place: number): number {
    return this.#at[place] as number;
  }

  module(place: number): string | null {
    return this.#modules[place] as string | null;
  }

  status(place: number): number {
    return this.#status[place] as number;
  }

  hasRequestId(place: number, requestId: string): boolean {
    if (this.#requestIdLength[place] !== requestId.length) return false;
    const start = place * IDS_LENGTH;
    return this.#ids.toString('latin1', start, start + requestId.length) === requestId;
  }

  /** Only valid for a place that has been written. */
  read(place: number): TabledCall {
    const providerMs = this.#providerMs[place] as number;
    return {
      at: new Date(this.at(place)).toISOString(),
      ...this.#readIds(place),
      module: this.module(place),
      method: this.#methods[place] as string,
      route: this.#routes[place] as string | null,
      status: this.status(place),
      failure: this.#failures[place] as string | null,
      failure_detail: this.#failureDetails[place] as string | null,
      actor: this.#actors[place] as string | null,
      duration_ms: roundMs(this.#durationMs[place] as number),
      provider_ms: roundMsOrNull(Number.isNaN(providerMs) ? null : providerMs),
      attempts: this.#attempts[place] as number,
      endpoint: this.#endpoints[place] as string | null,
      surface: this.#surfaces[place] as string | null,
    };
  }

  #readIds(place: number): Pick<TabledCall, 'request_id' | 'correlation_id' | 'trace_id'> {
    const start = place * IDS_LENGTH;
    const correlation = start + (this.#requestIdLength[place] as number);
    const trace = correlation + (this.#correlationIdLength[place] as number);
    const end = trace + (this.#traceIdLength[place] as number);
    return {
      request_id: this.#ids.toString('latin1', start, correlation),
      correlation_id: this.#ids.toString('latin1', correlation, trace),
      trace_id: trace === end ? null : this.#ids.toString('latin1', trace, end),
    };
  }
}
