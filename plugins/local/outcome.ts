// Imports only a part of the contract, because imports delay the start of a thread.
import { ProviderFailure } from '../../core/contract/failure.js';
import type { Outcome } from '../../core/contract/index.js';

/** The body of a handler's response is one piece. */
export interface LocalOutcome extends Outcome {
  readonly body: Uint8Array | null;
}

/**
 * Converts the return value of a handler to an outcome.
 * @throws ProviderFailure `protocol` for an invalid value.
 */
export function toOutcome(answer: unknown, maxResponseBytes: number): LocalOutcome {
  if (typeof answer !== 'object' || answer === null) {
    throw createMalformed('must be an object with status, headers and body');
  }
  const { status, headers, body } = answer as Record<string, unknown>;
  if (!Number.isInteger(status) || Number(status) < 100 || Number(status) > 599) {
    throw createMalformed('must have a status between 100 and 599');
  }
  const bytes = body === undefined ? null : toBytes(body);
  if (bytes !== null && bytes.length > maxResponseBytes) {
    throw createMalformed(`must have a body of at most ${maxResponseBytes} bytes`);
  }
  const isJson = bytes !== null && bytes !== body;
  return { status: Number(status), headers: toHeaders(headers, isJson), body: bytes };
}

function toBytes(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  const text = stringify(body);
  if (text === undefined || isLost(body, text) || ArrayBuffer.isView(body))
    throw createMalformed('must have a body of JSON or bytes');
  return Buffer.from(text);
}

/**
 * Detects values that JSON.stringify loses: it makes `{}` of a Map, a promise, a stream and other
 * objects with hidden content.
 */
function isLost(body: unknown, text: string): boolean {
  return text === '{}' && Object.prototype.toString.call(body) !== '[object Object]';
}

function stringify(body: unknown): string | undefined {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw createMalformed('must have a body that JSON can hold', cause);
  }
}

function toHeaders(headers: unknown, isJson: boolean): Readonly<Record<string, string>> {
  const outcome: Record<string, string> = isJson ? { 'content-type': 'application/json' } : {};
  if (headers === undefined) return outcome;
  if (!isPlainObject(headers)) {
    throw createMalformed('must have headers that are a plain object, such as { etag: \'"1"\' }');
  }
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') throw createMalformed('must have headers that are strings');
    const lowerCase = name.toLowerCase();
    if (seen.has(lowerCase)) throw createMalformed('must have each header once');
    seen.add(lowerCase);
    outcome[lowerCase] = value;
  }
  return outcome;
}

/** The entries of a Map, a Headers or an object of another class may be hidden. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function createMalformed(expected: string, cause?: unknown): ProviderFailure {
  const options = { cause, phase: 'answered' } as const;
  return new ProviderFailure('protocol', `the handler's response ${expected}`, options);
}
