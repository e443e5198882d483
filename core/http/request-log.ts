import type { Log } from '../contract/index.js';
import { TokenBuckets } from '../lib/token-buckets.js';
import {
  type CompletedRequest,
  type RequestObserver,
  roundMs,
  roundMsOrNull,
} from '../observability/completed-request.js';

const BAD_GATEWAY = 502;
/** Lines for requests with 401: otherwise a client without credentials could fill the disk. */
const UNAUTHORIZED_LINES = { perSecond: 10, burst: 100 };

interface RequestLogOptions {
  readonly log: Log;
  /** The share of requests without an error that is logged. */
  readonly successSample: number;
  /** Called for requests and responses that violate a schema. */
  readonly logViolations: RequestObserver;
}

/**
 * Logs one line for each request. Raw targets and queries are never logged: the client may put anything there.
 */
export function createRequestLog({
  log,
  successSample,
  logViolations,
}: RequestLogOptions): RequestObserver {
  const unauthorized = new TokenBuckets(UNAUTHORIZED_LINES, 1);
  let omitted = 0;
  const isOmitted = ({ status }: CompletedRequest): boolean => {
    if (status < 400) return successSample < 1 && Math.random() >= successSample;
    if (status !== 401) return false;
    if (unauthorized.take('') !== 0) {
      omitted += 1;
      return true;
    }
    if (omitted > 0) log.warn({ omitted }, 'requests with 401 omitted from the log');
    omitted = 0;
    return false;
  };
  return (ended) => {
    const { facts } = ended;
    if (facts.schemaViolations !== null) logViolations(ended);
    if (isOmitted(ended)) return;
    // The provider of a module is broken: operators that log warnings only have to see it.
    const level = ended.status === BAD_GATEWAY ? 'warn' : 'info';
    log[level](
      {
        request_id: ended.requestId,
        correlation_id: ended.correlationId,
        trace_id: facts.traceId,
        module: facts.module,
        method: ended.method,
        route: facts.route,
        status: ended.status,
        actor: ended.actor,
        duration_ms: roundMs(ended.durationMs),
        provider_ms: roundMsOrNull(facts.providerMs),
        bytes_in: facts.bytesIn,
        bytes_out: ended.bytesOut,
        attempts: facts.attempts,
        failure: facts.failure,
        ...(facts.reason !== null && { reason: facts.reason }),
        failure_detail: facts.failureDetail,
        ...(facts.surface !== null && { surface: facts.surface }),
      },
      'request',
    );
  };
}
