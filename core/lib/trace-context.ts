import { randomHex } from './random-ids.js';

/** W3C Trace Context, level 2: https://www.w3.org/TR/trace-context-2/ */
export interface TraceContext {
  /** 32 hex digits, not all zero. */
  readonly traceId: string;
  /** Two hex digits. Bit 0: sampled; bit 1: the trace id is random. */
  readonly flags: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const TRACESTATE_MEMBER = /^[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;
const MAX_TRACESTATE_MEMBERS = 32;
const NOT_SAMPLED = '00';
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
const ZERO_TRACE = '00'.repeat(TRACE_BYTES);
const ZERO_SPAN = '00'.repeat(SPAN_BYTES);

/**
 * Returns `null` for an absent or malformed header; the caller's `tracestate` is then ignored too.
 */
export function parseTraceparent(header: string | undefined): TraceContext | null {
  const match = header === undefined ? null : TRACEPARENT.exec(header);
  if (match === null) return null;
  const [, version, traceId = ZERO_TRACE, spanId, flags = NOT_SAMPLED, rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (traceId === ZERO_TRACE || spanId === ZERO_SPAN) return null;
  return { traceId, flags };
}

/**
 * Whether a `tracestate` may be forwarded: at most 32 valid `key=value` members; empty ones are allowed.
 * One invalid member invalidates the whole header.
 */
export function isValidTracestate(header: string): boolean {
  const members = header
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  return (
    members.length <= MAX_TRACESTATE_MEMBERS &&
    members.every((member) => TRACESTATE_MEMBER.test(member))
  );
}

export function createTraceContext(): TraceContext {
  return { traceId: randomHex(TRACE_BYTES), flags: NOT_SAMPLED };
}

/** Formats a child of the trace, with a new span id. */
export function formatTraceparent({ traceId, flags }: TraceContext): string {
  return `00-${traceId}-${randomHex(SPAN_BYTES)}-${flags}`;
}
