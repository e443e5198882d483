import {
  CALL_MEMBERS,
  type CollectedName,
  ENTRY_MEMBERS,
  listCallMembers,
  type Rejection,
  STREAM_MEMBERS,
} from '../contract/call-record.js';
import type { Actor } from '../contract/index.js';
import { createFixedShape, createNulls } from '../lib/fixed-shape.js';
import type { RequestFacts } from '../operations/request.js';
import type { RecordedCall } from '../operations/status/call-record.js';

/** The data of a request for the log line, the metrics and the call records. */
export interface CompletedRequest {
  readonly requestId: string;
  readonly correlationId: string;
  /** `service:crm-sync`; `null` for an unauthenticated request. */
  readonly actor: string | null;
  /** `null` for an unauthenticated request. */
  readonly actorKind: Actor['kind'] | null;
  /** The address of the client; `null` if it is unknown. */
  readonly client: string | null;
  /** The scopes of the actor. */
  readonly scopes: ReadonlySet<string> | null;
  /** `null` if the host did not reject it. */
  readonly rejection: Rejection | null;
  readonly facts: RequestFacts;
  /** Set if the parser rejected it before it was handled. */
  readonly isMalformed?: true;
  /** The method as on the request line. */
  readonly method: string;
  /** 499 when the client closed the connection before the response. */
  readonly status: number;
  /** The length of the sent body. */
  readonly bytesOut: number;
  readonly durationMs: number;
  /**
   * The duration until the head of a stream of events was sent; absent or `null` for any other
   * response.
   */
  readonly headMs?: number | null;
  /** Milliseconds since 1970. */
  readonly completedAt: number;
  /** The call as it is recorded and logged; created once by `keepCall`. */
  call: KeptCall | null;
}

/** Called once per request, before its response is complete. */
export type RequestObserver = (completed: CompletedRequest) => void;

/** More scopes than a person can read; an actor may have thousands. */
const MAX_SCOPES = 100;

/** A call in memory. Its texts are made when it is read, which few calls are. */
export interface KeptCall extends Omit<RecordedCall, 'at' | 'host' | 'scopes' | 'captured'> {
  /** The id of the host in its fleet; `null` without one, and until the call is recorded. */
  host: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly scopes: ReadonlySet<string> | null;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

const COLLECTED = listCallMembers<CollectedName>(({ isCollected }) => isCollected);

/** Every call is a copy of it, so that all have one shape and the order of the declaration. */
const EMPTY = createFixedShape({
  ...createNulls(Object.keys({ ...CALL_MEMBERS, ...STREAM_MEMBERS, ...ENTRY_MEMBERS })),
  rejection: null,
  scopes: null,
}) as unknown as KeptCall;

/** A call without values, to be filled in. */
export function createEmptyCall(): KeptCall {
  return { ...EMPTY };
}

/** Only calls of modules and rejected requests are recorded. */
export function isRecorded({ facts, rejection }: CompletedRequest): boolean {
  return facts.kind === 'forwarded' || rejection !== null;
}

/** Returns the same call for the record and the log line of a request. */
export function keepCall(completed: CompletedRequest): KeptCall {
  completed.call ??= createCall(completed);
  return completed.call;
}

function createCall(completed: CompletedRequest): KeptCall {
  const { facts } = completed;
  const call: Mutable<KeptCall> = { ...EMPTY };
  for (const name of COLLECTED) (call as Record<string, unknown>)[name] = facts[name];
  call.at = completed.completedAt;
  call.request_id = completed.requestId;
  call.correlation_id = completed.correlationId;
  call.method = completed.method;
  call.status = completed.status;
  call.actor = completed.actor;
  call.client = completed.client;
  call.duration_ms = roundMs(completed.durationMs);
  call.provider_ms = facts.provider_ms === null ? null : roundMs(facts.provider_ms);
  call.rejection = completed.rejection;
  call.scopes = completed.scopes;
  return call;
}

export function readCall(call: KeptCall): RecordedCall {
  const { at, scopes, ...rest } = call;
  return {
    at: new Date(at).toISOString(),
    ...rest,
    scopes: scopes && [...scopes].slice(0, MAX_SCOPES),
    captured: null,
  };
}

export type CallKey = Pick<KeptCall | RecordedCall, 'at' | 'request_id' | 'duration_ms'>;

/** Identifies a call: clients may use a request id again. */
export function nameCall({ at, request_id, duration_ms }: CallKey): string {
  return `${at} ${request_id} ${duration_ms}`;
}

/** Rounds to microseconds, the resolution of the clock. */
function roundMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
