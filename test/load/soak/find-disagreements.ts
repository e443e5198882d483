import type { CallerRecord } from './mixed-load.js';
import type { Arrival } from './provider-process.js';
import { MODULES, RELIABLE } from './soak-module.js';

/** The log line of a request. */
export interface HostLine {
  readonly module: string | null;
  readonly route: string | null;
  readonly method: string;
  readonly status: number;
  readonly attempts: number;
}

interface Counted {
  /** The counts by request id. */
  readonly callers: ReadonlyMap<string, CallerRecord>;
  /** The counts by request id. More than one is an error. */
  readonly lines: ReadonlyMap<string, readonly HostLine[]>;
  readonly arrivals: readonly Arrival[];
  /** The series of `modgate_requests_total`, by `module method route status`. */
  readonly metrics: ReadonlyMap<string, number>;
}

/** A client may disconnect after the host has decided its response, which is then counted. */
const STATUSES_OF_ABORTED = new Set([499, 200, 502]);

/** Lists the requests for which client, host and provider disagree. */
export function findDisagreements(counted: Counted): string[] {
  const complete = { ...counted, lines: addOmittedLines(counted) };
  return [...checkLines(complete), ...checkMetrics(complete), ...checkArrivals(complete)];
}

/** The host omits log lines of frequent 401 responses; its metrics still count each of them. */
function addOmittedLines({ callers, lines }: Counted): Counted['lines'] {
  const complete = new Map(lines);
  for (const [id, { call, status }] of callers) {
    if (status !== 401 || lines.has(id)) continue;
    complete.set(id, [{ module: null, route: null, method: call.method, status, attempts: 0 }]);
  }
  return complete;
}

function checkLines({ callers, lines }: Counted): string[] {
  const wrong: string[] = [];
  for (const [id, { status, outcome }] of callers) {
    const ofRequest = lines.get(id) ?? [];
    const [line] = ofRequest;
    const isSame =
      outcome === 'aborted' ? STATUSES_OF_ABORTED.has(line?.status ?? 0) : line?.status === status;
    if (ofRequest.length === 1 && isSame) continue;
    const logged = ofRequest.map((response) => response.status).join(', ') || 'nothing';
    wrong.push(`${id}: the client got ${outcome}, the host logged ${logged}`);
  }
  return wrong;
}

function checkMetrics({ callers, lines, metrics }: Counted): string[] {
  const expected = new Map<string, number>();
  for (const [id, { call }] of callers) {
    if (call.isBridge) continue;
    for (const line of lines.get(id) ?? []) {
      const series = nameSeries(line.module, line.method, line.route, line.status);
      expected.set(series, (expected.get(series) ?? 0) + 1);
    }
  }
  const wrong: string[] = [];
  for (const series of new Set([...expected.keys(), ...metrics.keys()])) {
    // Its series are removed with the module.
    if (series.startsWith(`${MODULES.transient} `)) continue;
    const [log, metric] = [expected.get(series) ?? 0, metrics.get(series) ?? 0];
    if (log !== metric) wrong.push(`modgate_requests_total ${series}: ${metric}, expected ${log}`);
  }
  return wrong;
}

export function nameSeries(
  module: string | null,
  method: string,
  route: string | null,
  status: number | string,
): string {
  return `${module ?? ''} ${method} ${route ?? ''} ${status}`;
}

function checkArrivals({ callers, lines, arrivals }: Counted): string[] {
  const wrong: string[] = [];
  const arrived = new Map<string, number>();
  const requestOf = new Map<string, string>();
  for (const { call_id, request_id } of arrivals) {
    // A retry has the id of its call, which never belongs to another request.
    const other = requestOf.get(call_id) ?? request_id;
    requestOf.set(call_id, request_id);
    if (other !== request_id) wrong.push(`${other} and ${request_id} have one modgate-call-id`);
    arrived.set(request_id, (arrived.get(request_id) ?? 0) + 1);
    if (!callers.has(request_id))
      wrong.push(`a provider received ${request_id}, which no client sent`);
  }
  const callsOf = new Map<string, number>();
  for (const requestId of requestOf.values()) {
    callsOf.set(requestId, (callsOf.get(requestId) ?? 0) + 1);
  }
  for (const [id, count] of callsOf) {
    if (count > 1) wrong.push(`${id} has ${count} modgate-call-ids`);
  }
  for (const [id, record] of callers) {
    const attempts = lines.get(id)?.[0]?.attempts ?? 0;
    const received = arrived.get(id) ?? 0;
    const { least, most } = boundArrivals(record, attempts);
    if (received >= least && received <= most) continue;
    wrong.push(`${id} (${record.outcome}): ${attempts} attempts, ${received} at the provider`);
  }
  return wrong;
}

/** Exactly the attempts, or fewer where a fault may drop them. */
function boundArrivals({ call, outcome }: CallerRecord, attempts: number) {
  const isReliable = RELIABLE.includes(call.module) || call.module === MODULES.transient;
  const isExact = isReliable || (outcome === '200' && attempts === 1);
  if (isExact || attempts === 0) return { least: attempts, most: attempts };
  return { least: outcome === '200' ? 1 : 0, most: attempts };
}
