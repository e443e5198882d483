import { HostError } from '../../errors.js';
import { formatActorHeader } from '../../lib/actor-name.js';
import {
  ALWAYS_FORWARDED,
  BYTE_BODY_HEADERS,
  BYTE_REQUEST_HEADERS,
  EVENT_REQUEST_HEADERS,
} from '../../lib/header-names.js';
import { namesListedType } from '../../lib/media-type.js';
import { isValidTracestate } from '../../lib/trace-context.js';
import type { LiveRoute } from '../../modules/live-module.js';
import { JSON_TYPE } from '../reply.js';
import type { CallerRequest } from '../request.js';

/** Headers that describe the message: a client must not remove them as hop-by-hop headers. */
const NEVER_HOP_BY_HOP = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-range',
  'host',
] as const;

/**
 * The header of a client that accepts anything: other types than JSON are forwarded without their
 * body.
 */
const ANY_BUT_JSON_FIRST = 'application/json, */*;q=0.1';

const ANY = '*/*';

const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * The names that `connection` declares hop-by-hop, in lower case.
 * @throws HostError 400 if it names a header that describes the message.
 */
export function readHopByHopNames({ headers }: CallerRequest): ReadonlySet<string> {
  const connection = headers.get('connection');
  if (connection === undefined || connection === 'keep-alive') return NO_NAMES;
  const names = new Set(connection.split(',').map((name) => name.trim().toLowerCase()));
  for (const name of NEVER_HOP_BY_HOP) {
    if (!names.has(name)) continue;
    throw new HostError('validation_failed', `connection must not name ${name}`, {
      errors: [{ field: 'connection', reason: `names ${name}` }],
      // Hosts may disagree about where the body ends.
      headers: { connection: 'close' },
    });
  }
  return names;
}

export interface ProviderHeaderInput {
  readonly request: Pick<CallerRequest, 'actor' | 'requestId' | 'correlationId' | 'headers'>;
  /** The conditional headers to forward beside `if-match`. */
  readonly conditions: readonly string[];
  readonly hopByHop: ReadonlySet<string>;
  /** The headers that the descriptor names, in lower case. */
  readonly forwardHeaders: readonly string[];
  /** Whether the client sent a valid `traceparent`; otherwise its `tracestate` is ignored. */
  readonly isClientTrace: boolean;
  readonly takesBody: boolean;
  /** Whether the body is bytes. */
  readonly sendsBytes: boolean;
  /** The response that the caller accepts; `null` for JSON. */
  readonly wanted: WantedContent | null;
  /** The headers of `forward_client`; empty without it. */
  readonly clientHeaders: Readonly<Record<string, string>>;
  /**
   * Whether the response is forwarded unchanged: the provider then receives the client's `accept`.
   */
  readonly isRaw: boolean;
}

interface WantedContent {
  /** The `accept` to send if the caller sends none. */
  readonly accept: string;
  /** The headers of the caller that are forwarded. */
  readonly headers: readonly string[];
}

/** @param accept that of the caller, which decides beside JSON whether bytes are wanted */
export function acceptedContentOf(
  { responseBytes, stream }: Pick<LiveRoute, 'responseBytes' | 'stream'>,
  accept: string | undefined,
): ProviderHeaderInput['wanted'] {
  if (stream !== null) {
    const either = `${JSON_TYPE}, ${stream.mediaType};q=0.5`;
    return { accept: stream.isOptional ? either : ANY, headers: EVENT_REQUEST_HEADERS };
  }
  if (responseBytes?.besideJson && !namesListedType(accept, responseBytes.types ?? [])) return null;
  return responseBytes === null ? null : { accept: ANY, headers: BYTE_REQUEST_HEADERS };
}

/**
 * Uses an allow-list: the provider receives these headers, and those of the provider client and the
 * adapter.
 */
export function createProviderHeaders(input: ProviderHeaderInput): Record<string, string> {
  const { request } = input;
  const headers: Record<string, string> = {
    accept: JSON_TYPE,
    'accept-encoding': 'identity',
    'x-request-id': request.requestId,
    'x-correlation-id': request.correlationId,
    'modgate-actor': formatActorHeader(request.actor),
    ...input.clientHeaders,
  };
  const pass = (name: string) => {
    const value = request.headers.get(name);
    if (value !== undefined && !input.hopByHop.has(name)) headers[name] = value;
  };
  if (input.takesBody) pass('content-type');
  for (const name of ALWAYS_FORWARDED) pass(name);
  for (const name of input.conditions) pass(name);
  if (input.isRaw) {
    headers['accept'] = ANY_BUT_JSON_FIRST;
    if (request.headers.get('accept') !== '*/*') pass('accept');
  }
  if (input.sendsBytes) for (const name of BYTE_BODY_HEADERS) pass(name);
  if (input.wanted !== null) {
    headers['accept'] = input.wanted.accept;
    for (const name of input.wanted.headers) pass(name);
  }
  for (const name of input.forwardHeaders) pass(name);
  if (input.isClientTrace && isValidTracestate(request.headers.get('tracestate') ?? '')) {
    pass('tracestate');
  }
  return headers;
}
