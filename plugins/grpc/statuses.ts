import { fromBinary, type Registry, toJson } from '@bufbuild/protobuf';
import { type Any, anyUnpack } from '@bufbuild/protobuf/wkt';
import { type Outcome, ProviderFailure } from '../../core/contract/index.js';
import { KNOWN_TYPES, knownMessage } from './known-types.js';

/** A status that the server sent. */
export interface GrpcStatus {
  readonly code: number;
  /** The decoded message, shortened. */
  readonly message: string;
  /** `grpc-status-details-bin`, decoded. */
  readonly details: Uint8Array | null;
  /** `grpc-retry-pushback-ms`, or `retry-after` of a proxy, at least 1; `null` without one. */
  readonly retryMs: number | null;
}

/** The names of the codes, by number. */
export const CODES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

type CodeName = (typeof CODES)[number];

/** The statuses of HTTP that the host forwards or reports, by code. */
const HTTP_STATUSES: Readonly<Record<Exclude<CodeName, 'OK'>, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
  UNAUTHENTICATED: 401,
};

/** The statuses with failures of their own, whatever `provider_errors` says. */
const FAILURES = { UNAVAILABLE: 'unavailable', DEADLINE_EXCEEDED: 'timeout' } as const;

function nameOf(code: number): Exclude<CodeName, 'OK'> {
  const name = CODES[code] ?? 'UNKNOWN';
  return name === 'OK' ? 'UNKNOWN' : name;
}

/**
 * The failure for a status that ends a stream, or that leaves nothing to forward.
 * @param retryMs when UNAVAILABLE may be tried again, for callers that have no response yet
 */
export function toFailure(
  { code }: Pick<GrpcStatus, 'code'>,
  retryMs: number | null = null,
): ProviderFailure {
  const name = nameOf(code);
  const failure = name in FAILURES ? FAILURES[name as keyof typeof FAILURES] : 'status';
  const message = `the server ended the call with ${name}`;
  return new ProviderFailure(failure, message, {
    status: HTTP_STATUSES[name],
    ...(failure === 'unavailable' && retryMs !== null && { retryAfterMs: retryMs }),
  });
}

/** The failure for a status that ends a stream of which nothing was forwarded. */
export function toHeldFailure(status: GrpcStatus, registry: Registry): ProviderFailure {
  return toFailure(status, readDetails(status, registry).retryMs);
}

/**
 * The response for a status other than OK. Its body has the shape of an error that the host forwards.
 * @throws ProviderFailure for UNAVAILABLE and DEADLINE_EXCEEDED.
 */
export function toErrorOutcome(status: GrpcStatus, registry: Registry): Outcome {
  const name = nameOf(status.code);
  const { errors, retryMs } = readDetails(status, registry);
  if (name in FAILURES) throw toFailure(status, retryMs);
  const body = { code: name, message: status.message, errors };
  return {
    status: HTTP_STATUSES[name],
    headers: {
      'content-type': 'application/json',
      ...(retryMs !== null && { 'retry-after': String(Math.ceil(retryMs / 1000)) }),
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}

interface Details {
  readonly errors: readonly { readonly field: string; readonly message: string }[];
  /** When the call may be sent again, at least 1; `null` if the server does not say so. */
  readonly retryMs: number | null;
}

/** The maximum number of details that are read. */
const MAX_DETAILS = 100;
const MAX_RETRY_SECONDS = 2_147_483_647;

/** Reads `google.rpc.Status`; details of unknown or malformed messages are dropped. */
function readDetails(status: GrpcStatus, registry: Registry): Details {
  const errors: { field: string; message: string }[] = [];
  let { retryMs } = status;
  for (const any of listDetails(status.details)) {
    const json = readDetail(any, registry);
    if (json === null) continue;
    const { typeName, value } = json;
    if (typeName === 'google.rpc.RetryInfo') retryMs = readDelay(value) ?? retryMs;
    errors.push(...toErrors(typeName, value));
  }
  return { errors: errors.slice(0, MAX_DETAILS), retryMs };
}

function listDetails(bytes: Uint8Array | null): Any[] {
  if (bytes === null) return [];
  try {
    const status = fromBinary(knownMessage('google.rpc.Status'), bytes);
    const details: unknown = Reflect.get(status, 'details');
    return Array.isArray(details) ? details.slice(0, MAX_DETAILS) : [];
  } catch {
    return [];
  }
}

type Members = Readonly<Record<string, unknown>>;

function readDetail(any: Any, registry: Registry): { typeName: string; value: Members } | null {
  for (const types of [registry, KNOWN_TYPES]) {
    try {
      const message = anyUnpack(any, types);
      const type = message && types.getMessage(message.$typeName);
      if (message === undefined || type === undefined) continue;
      const value = toJson(type, message, { registry: types });
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
      return { typeName: type.typeName, value };
    } catch {
      return null;
    }
  }
  return null;
}

const DELAY = /^(\d{1,12}(?:\.\d{1,9})?)s$/;

function readDelay({ retryDelay }: Members): number | null {
  const [, seconds] = DELAY.exec(String(retryDelay)) ?? [];
  if (seconds === undefined) return null;
  return Math.max(1, Math.min(Number(seconds), MAX_RETRY_SECONDS) * 1000);
}

/** One error for each violation; any other detail as JSON under the name of its message. */
function toErrors(typeName: string, value: Members): { field: string; message: string }[] {
  const violations = value['fieldViolations'] ?? value['violations'];
  if (!typeName.startsWith('google.rpc.') || !Array.isArray(violations)) {
    return [{ field: typeName, message: JSON.stringify(value) }];
  }
  return violations.map((violation: Members) => ({
    field: String(violation['field'] ?? violation['subject'] ?? typeName),
    message: String(violation['description'] ?? violation['type'] ?? 'violated'),
  }));
}
