import {
  CALL_MEMBERS,
  type CollectedName,
  ENTRY_MEMBERS,
  listCallMembers,
  STREAM_MEMBERS,
} from '../../contract/call-record.js';
import { createFixedShape, createNulls } from '../../lib/fixed-shape.js';
import type { RecordedCall } from '../../operations/status/call-record.js';
import { type CompletedRequest, roundMs, roundMsOrNull } from '../completed-request.js';

/** More scopes than a person can read; an actor may have thousands. */
const MAX_SCOPES = 100;

/** A call in memory. Its texts are made when it is read, which few calls are. */
export interface KeptCall extends Omit<RecordedCall, 'at' | 'scopes' | 'captured'> {
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

/** Only calls of modules and rejected requests are recorded. */
export function isRecorded({ facts, rejection }: CompletedRequest): boolean {
  return facts.kind === 'forwarded' || rejection !== null;
}

/** @param host the id of the host in its fleet; `null` without one */
export function keepCall(completed: CompletedRequest, host: string | null = null): KeptCall {
  const { facts } = completed;
  const call: Mutable<KeptCall> = { ...EMPTY };
  call.host = host;
  for (const name of COLLECTED) (call as Record<string, unknown>)[name] = facts[name];
  call.at = completed.completedAt;
  call.request_id = completed.requestId;
  call.correlation_id = completed.correlationId;
  call.method = completed.method;
  call.status = completed.status;
  call.actor = completed.actor;
  call.client = completed.client;
  call.duration_ms = roundMs(completed.durationMs);
  call.provider_ms = roundMsOrNull(facts.provider_ms);
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
