import type { AMQPMessage, AMQPProperties } from '@cloudamqp/amqp-client';
import { type Outcome, ProviderFailure } from '../../core/contract/index.js';
import { STATUS_HEADER, streamOf, UNSAFE_VALUE } from '../shared/transport.js';

/** What a call accepts as its answer. */
export interface AnswerLimits {
  readonly isHead: boolean;
  readonly maxResponseBytes: number;
  /** A longer body is returned as a stream. */
  readonly holdBytes: number | undefined;
  /** The type of a body without one. */
  readonly defaultType: string;
}

const DEFAULT_STATUS = 200;
const STATUS = /^[2-5][0-9][0-9]$/;
/** Encodings that say nothing about the bytes of a body. */
const NO_ENCODING: ReadonlySet<string> = new Set(['', 'identity', 'utf-8', 'utf8']);
/** A name of a header in HTTP (RFC 9110, 5.1). */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/**
 * @param skippedBytes the length of a body that was not read, because it is too long; otherwise `null`
 * @throws ProviderFailure `protocol` for a malformed answer.
 */
export function toOutcome(
  { properties, body }: AMQPMessage,
  skippedBytes: number | null,
  limits: AnswerLimits,
): Outcome {
  const status = readStatus(properties);
  const headers = readHeaders(properties);
  const length = skippedBytes ?? body?.length ?? 0;
  if (limits.isHead || length === 0) return { status, headers, body: null };
  if (length > limits.maxResponseBytes) {
    const message = `response body is over ${limits.maxResponseBytes} bytes`;
    throw new ProviderFailure('protocol', message, { status, phase: 'answered' });
  }
  const bytes = body ?? new Uint8Array();
  const typed = { 'content-type': limits.defaultType, ...headers };
  const isLong = limits.holdBytes !== undefined && length > limits.holdBytes;
  return { status, headers: typed, body: isLong ? streamOf(bytes) : bytes };
}

function readStatus({ headers = {} }: AMQPProperties): number {
  const values = Object.keys(headers)
    .filter((name) => name.toLowerCase() === STATUS_HEADER)
    .map((name) => headers[name]);
  if (values.length === 0) return DEFAULT_STATUS;
  const [value] = values;
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value;
  const isOne = values.length === 1 && (typeof text === 'string' || typeof text === 'number');
  if (!isOne || !STATUS.test(String(text))) {
    throw createMalformed(`has a ${STATUS_HEADER} that is not between 200 and 599`);
  }
  return Number(text);
}

function readHeaders({ headers, contentType, contentEncoding }: AMQPProperties) {
  const read: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(headers ?? {})) {
    const lower = name.toLowerCase();
    const text = readText(value);
    // Tables and lists of them come from brokers, such as `x-death`.
    if (text === null || lower === STATUS_HEADER || !HEADER_NAME.test(lower)) continue;
    read[lower] = lower in read ? `${read[lower]}, ${text}` : text;
  }
  if (contentType !== undefined) read['content-type'] = contentType;
  if (contentEncoding !== undefined) read['content-encoding'] = contentEncoding;
  if (NO_ENCODING.has((read['content-encoding'] ?? '').toLowerCase())) {
    delete read['content-encoding'];
  }
  for (const value of Object.values(read)) {
    if (UNSAFE_VALUE.test(value)) throw createMalformed('has a header with a control character');
  }
  return read;
}

/** A header may be text, bytes, a number, or a list of these; `null` for anything else. */
function readText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  if (!Array.isArray(value) || value.length === 0) return null;
  const texts = value.map(readText);
  return texts.includes(null) ? null : texts.join(', ');
}

function createMalformed(problem: string): ProviderFailure {
  return new ProviderFailure('protocol', `the response ${problem}`, { phase: 'answered' });
}
