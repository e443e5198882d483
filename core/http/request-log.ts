import type { Log } from '../contract/index.js';
import {
  describeActor,
  type RequestObserver,
  roundMs,
  roundMsOrNull,
} from '../observability/completed-request.js';

/**
 * One line a request (contract 9). Raw targets and queries are never logged: what a caller puts there
 * may be anything. `successSample` is the share of 2xx that is logged; everything else always is.
 */
export function createRequestLog(log: Log, successSample: number): RequestObserver {
  return (ended) => {
    const isSuccess = ended.status < 400;
    if (isSuccess && successSample < 1 && Math.random() >= successSample) return;
    const { trace, actor } = ended;
    log.info(
      {
        request_id: ended.requestId,
        correlation_id: ended.correlationId,
        trace_id: trace.traceId,
        module: trace.module,
        method: ended.method,
        route: trace.route,
        status: ended.status,
        actor: describeActor(actor),
        duration_ms: roundMs(ended.durationMs),
        provider_ms: roundMsOrNull(trace.providerMs),
        bytes_in: trace.bytesIn,
        bytes_out: ended.bytesOut,
        attempts: trace.attempts,
        failure: trace.failure,
      },
      'request',
    );
  };
}
