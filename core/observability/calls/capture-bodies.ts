import { joinBody, type Outcome } from '../../contract/index.js';
import type { CallBodies } from '../../operations/request.js';
import type { CapturedBodies } from '../../operations/status/call-record.js';

const REDACTED = '[redacted]';
const CUT = '[cut]';
const CUT_MARK = '…';

// Part of a name is enough (`x-api-key`, `accessToken`), whatever the value is: a PIN is a number.
const SENSITIVE =
  /auth|cookie|passw(?:or)?d|passphrase|passcode|secret|token|api[-_]?key|private[-_]?key|credential|session|signature|bearer|cvv|cvc/i;
/** Words too short to be looked for within others. */
const SENSITIVE_WORD = /(?:^|[^a-z])(?:pin|otp|pwd|jwt|sid|ssn)(?:[^a-z]|$)/i;
const WORD_START = /(?<=[a-z0-9])(?=[A-Z])/g;

// Credentials by their form, under whatever name: of HTTP (RFC 9110 11.4), a JWT, a key in PEM, a URL with a password.
const SECRET_VALUE =
  /^(?:bearer|basic|digest|negotiate)\s+\S|\beyJ[\w-]+\.[\w-]+\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY|\w:\/\/[^\s/:@]*:[^\s/@]+@/i;

// `{"name": "authorization", "value": …}`, as lists of headers and settings have it.
const NAMES = ['name', 'key', 'header', 'field'] as const;
const VALUES: ReadonlySet<string> = new Set(['value', 'values', 'data', 'content']);

/** Deeper, a value is cut: a body may nest until the stack is full. */
const MAX_DEPTH = 64;
/** A longer body is not parsed a second time for the sake of a record. */
const MAX_PARSED_BYTES = 256 * 1024;

/** What a record keeps of bodies: JSON without the values of secret-looking keys, at most so many bytes each. */
export function captureBodies({ captureBytes, request, response }: CallBodies): CapturedBodies {
  return {
    request: captureBody(request, captureBytes),
    response: captureBody(response, captureBytes),
  };
}

function captureBody(given: Outcome['body'], captureBytes: number): string | null {
  const body = joinBody(given);
  if (body.length === 0) return null;
  // Without its structure nothing can be told to be a secret.
  if (body.length > MAX_PARSED_BYTES) return CUT;
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return cutText(JSON.stringify(redact(value, 0)), captureBytes);
  } catch {
    return null;
  }
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return SECRET_VALUE.test(value) ? REDACTED : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return CUT;
  if (Array.isArray(value)) return redactList(value, depth);
  const namesSecret = NAMES.some((name) => isSensitive(Reflect.get(value, name)));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      isSensitive(name) || (namesSecret && VALUES.has(name)) ? REDACTED : redact(item, depth + 1),
    ]),
  );
}

/** Of a pair such as `["authorization", "…"]` the second is judged by the first. */
function redactList(list: readonly unknown[], depth: number): unknown[] {
  if (list.length === 2 && isSensitive(list[0])) return [list[0], REDACTED];
  return list.map((item) => redact(item, depth + 1));
}

function isSensitive(name: unknown): boolean {
  if (typeof name !== 'string') return false;
  return SENSITIVE.test(name) || SENSITIVE_WORD.test(name.replace(WORD_START, '_'));
}

/** Never in the middle of a character. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  const decoder = new TextDecoder();
  return `${decoder.decode(bytes.subarray(0, maxBytes), { stream: true })}${CUT_MARK}`;
}
