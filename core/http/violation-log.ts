import type { Log } from '../contract/index.js';
import type { ErrorDetail } from '../errors.js';
import { TokenBuckets } from '../lib/token-buckets.js';
import type { RequestObserver } from '../observability/completed-request.js';
import { OTHER_NAME } from '../schema/run.js';

/** One line for each route and minute, because an incorrect client repeats its error. */
const LINES = { perSecond: 1 / 60, burst: 1 };
const MAX_ROUTES = 10_000;
const MAX_FIELD_LENGTH = 200;
/** Reasons of members that no schema names: clients choose these names. */
const FOREIGN_NAMES: ReadonlySet<string> = new Set(['unexpected', 'repeated', OTHER_NAME]);

/** Logs where and how requests and responses violate their schemas, never the value. */
export function createViolationLog(log: Log): RequestObserver {
  const lines = new TokenBuckets(LINES, MAX_ROUTES);
  return ({ requestId, correlationId, facts, method }) => {
    for (const { direction, mode, details } of facts.schemaViolations ?? []) {
      const { module, route } = facts;
      if (lines.take(`${module} ${method} ${route}`) !== 0) continue;
      const [first] = details;
      const ids = { request_id: requestId, correlation_id: correlationId };
      const place = { module, method, route, direction, mode, ...describe(first) };
      log.warn({ ...ids, ...place }, 'schema violated');
    }
  };
}

function describe(detail: ErrorDetail | undefined) {
  if (!detail?.field) return { field: null, reason: detail?.reason };
  const { field, reason } = detail;
  const printableField = FOREIGN_NAMES.has(reason)
    ? field.replace(/(?<=^query\.|\/)[^/]*$/, '*')
    : field;
  return { field: printableField.slice(0, MAX_FIELD_LENGTH), reason };
}
