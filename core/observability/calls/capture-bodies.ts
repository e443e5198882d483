import { joinBody, type Outcome } from '../../contract/index.js';
import { parseJson } from '../../lib/json/json-bytes.js';
import type { Mask } from '../../lib/secrets/mask-secrets.js';
import { isSensitiveName, isSensitiveValue } from '../../lib/secrets/sensitive-names.js';
import type { CallBodies } from '../../operations/request.js';
import type { CapturedBodies } from '../../operations/status/call-record.js';

const REDACTED = '[redacted]';
const CUT = '[cut]';
const CUT_MARK = '…';

// `{"name": "authorization", "value": …}`, as in lists of headers and settings.
const NAMES = ['name', 'key', 'header', 'field'] as const;
const VALUES: ReadonlySet<string> = new Set(['value', 'values', 'data', 'content']);

/** Deeper values are cut: nesting could overflow the stack. */
const MAX_DEPTH = 64;
/** A longer body is not parsed again for a record. */
const MAX_PARSED_BYTES = 256 * 1024;

/** The bodies for a record: JSON without the values of sensitive keys, truncated to `captureBytes` each. */
export function captureBodies({
  captureBytes,
  mask,
  request,
  response,
}: CallBodies): CapturedBodies {
  return {
    request: captureBody(request, captureBytes, mask),
    response: captureBody(response, captureBytes, mask),
  };
}

function captureBody(captured: Outcome['body'], captureBytes: number, mask: Mask): string | null {
  const body = joinBody(captured);
  if (body.length === 0) return null;
  // Secrets can only be found in parsed JSON.
  if (body.length > MAX_PARSED_BYTES) return CUT;
  const { value, problem } = parseJson(Buffer.from(body));
  if (problem !== null) return problem === 'too many values' ? CUT : null;
  return cutText(JSON.stringify(redact(value, 0, mask)), captureBytes);
}

function redact(value: unknown, depth: number, mask: Mask): unknown {
  if (typeof value === 'string') return isSensitiveValue(value) ? REDACTED : mask(value);
  if (typeof value === 'number') return mask(String(value)) === String(value) ? value : REDACTED;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return CUT;
  if (Array.isArray(value)) return redactList(value, depth, mask);
  const namesSecret = NAMES.some((name) => isSensitive(Reflect.get(value, name)));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      mask(name),
      isSensitive(name) || (namesSecret && VALUES.has(name))
        ? REDACTED
        : redact(item, depth + 1, mask),
    ]),
  );
}

/**
 * Redacts the second item of a pair such as `["authorization", "…"]`, which the first one names.
 */
function redactList(list: readonly unknown[], depth: number, mask: Mask): unknown[] {
  if (list.length === 2 && isSensitive(list[0])) return [redact(list[0], depth, mask), REDACTED];
  return list.map((item) => redact(item, depth + 1, mask));
}

/**
 * Covers more names than the log, because bodies contain names that the host does not know. Numbers
 * count too: a PIN is one.
 */
function isSensitive(name: unknown): boolean {
  return typeof name === 'string' && (/auth/i.test(name) || isSensitiveName(name));
}

/** Cuts between characters. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const decoder = new TextDecoder();
  return `${decoder.decode(bytes.subarray(0, maxBytes), { stream: true })}${CUT_MARK}`;
}
