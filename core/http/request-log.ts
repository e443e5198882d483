import { CALL_MEMBERS, type CallFields, listCallMembers } from '../contract/call-record.js';
import type { Log } from '../contract/index.js';
import { createFixedShape, createNulls } from '../lib/fixed-shape.js';
import { TokenBuckets } from '../lib/token-buckets.js';
import { ShownText } from '../log/redact.js';
import {
  type CompletedRequest,
  keepCall,
  type RequestObserver,
} from '../observability/completed-request.js';

const BAD_GATEWAY = 502;
const MALFORMED = 'rejected malformed request';
/**
 * Limits lines of requests without an actor, because a client without credentials could fill the
 * disk.
 */
const ANONYMOUS_LINES = { perSecond: 10, burst: 100 };

interface RequestLogOptions {
  readonly log: Log;
  /** The fraction of requests without an error that is logged. */
  readonly successSample: number;
  /** Called for requests and responses that violate a schema. */
  readonly logViolations: RequestObserver;
}

/**
 * Logs one line for each request. Queries are never logged, and paths only if no route matched,
 * because they may contain anything.
 */
export function createRequestLog({
  log,
  successSample,
  logViolations,
}: RequestLogOptions): RequestObserver {
  const anonymous = new TokenBuckets(ANONYMOUS_LINES, 1);
  let omitted = 0;
  const isOmitted = ({ status, actor, rejection }: CompletedRequest): boolean => {
    const isSuccess = status < 400 && rejection === null;
    if (isSuccess && successSample < 1 && Math.random() >= successSample) return true;
    if (actor !== null) return false;
    if (anonymous.take('') !== 0) {
      omitted += 1;
      return true;
    }
    if (omitted > 0) log.warn({ omitted }, 'requests without an actor omitted from the log');
    omitted = 0;
    return false;
  };
  return (ended) => {
    const { facts } = ended;
    if (facts.schemaViolations !== null) logViolations(ended);
    if (isOmitted(ended)) return;
    // Logged as a warning, because the provider of a module is broken.
    const level = ended.status === BAD_GATEWAY ? 'warn' : 'info';
    log[level](createLine(ended), ended.isMalformed ? MALFORMED : 'request');
  };
}

/** Members that follow the byte counts, where readers of the line expect them. */
const LAST: readonly (keyof CallFields)[] = ['attempts', 'failure', 'failure_detail'];
const FIRST = listCallMembers<keyof CallFields>(({ isLogged }) => isLogged).filter(
  (name) => name in CALL_MEMBERS && !LAST.includes(name),
);

const EMPTY_LINE: Record<string, unknown> = createFixedShape(
  createNulls([...FIRST, 'bytes_in', 'bytes_out', ...LAST]),
);

/** The logged members of the call, and the informative ones of its rejection. */
function createLine(ended: CompletedRequest): Record<string, unknown> {
  const call = keepCall(ended);
  const line = { ...EMPTY_LINE };
  for (const name of FIRST) line[name] = call[name];
  line['bytes_in'] = ended.facts.bytesIn;
  line['bytes_out'] = ended.bytesOut;
  for (const name of LAST) line[name] = call[name];
  for (const [name, value] of Object.entries(call.rejection ?? {})) {
    if (value !== null) line[name] = name === 'token' ? new ShownText(String(value)) : value;
  }
  if (call.surface !== null) line['surface'] = call.surface;
  if (call.mount !== null) line['mount'] = call.mount;
  if (call.request_body !== null) line['request_body'] = call.request_body;
  return line;
}
