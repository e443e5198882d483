import { dynamic, enums, object, string } from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { isPrintableKey, MAX_DIAGNOSTICS, type Violation } from '../../document/diagnostic.js';
import { validateStruct } from '../../document/validate.js';
import { HostError } from '../../errors.js';
import { skipMark } from '../../lib/byte-order-mark.js';
import { measureJson } from '../../lib/json/json-check.js';
import { readMember } from '../../lib/read-member.js';
import { type BridgeOperationName, type BridgePayload, PAYLOADS } from './bridge-payload.js';

/** The body of a bridge request, in wire names. */
export interface BridgeRequest {
  readonly moduleReleaseDigest: string;
  readonly uiArtifactDigest: string;
  readonly permission: string;
  readonly payload: BridgePayload;
}

const MAX_DEPTH = 1000;

const OPERATIONS = Object.keys(PAYLOADS) as BridgeOperationName[];

const unknownPayload = object({ operation: enums(OPERATIONS) });

const bridgeRequest = object({
  moduleReleaseDigest: string(),
  payload: dynamic(selectPayload),
  permission: string(),
  uiArtifactDigest: string(),
});

/**
 * Parses a body of JSON: a request with a known operation and without unknown members.
 * @throws HostError 400 that names each invalid member.
 */
export function parseBridgeRequest(body: Buffer): BridgeRequest {
  if (measureJson(body).depth > MAX_DEPTH) {
    throw createBridgeError([{ field: 'body', reason: `nested deeper than ${MAX_DEPTH} levels` }]);
  }
  const value: unknown = JSON.parse(skipMark(body).toString('utf8'));
  assertFewMembers(value, 'body');
  assertFewMembers(readMember(value, 'payload'), 'payload');
  const validated = validateStruct(value, bridgeRequest as AnyStruct);
  const { violations } = validated;
  if (violations.length > 0) throw createBridgeError(violations.map(describeViolation));
  return validated.value as BridgeRequest;
}

function selectPayload(value: unknown): AnyStruct {
  const operation = readMember(value, 'operation');
  const operationName = OPERATIONS.find((name) => name === operation);
  return operationName === undefined ? unknownPayload : PAYLOADS[operationName];
}

/**
 * Limits the members, because validation reports each unknown one: 60,000 of them took eleven
 * seconds.
 */
function assertFewMembers(value: unknown, field: string): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.keys(value).length <= MAX_DIAGNOSTICS) return;
  throw createBridgeError([{ field, reason: `more than ${MAX_DIAGNOSTICS} members` }]);
}

function describeViolation({ path, message, hint, missing }: Violation): {
  field: string;
  reason: string;
} {
  const reason = hint === null ? message : `${message} (${hint})`;
  const names = [...path, ...(missing === undefined ? [] : [missing])].map(String);
  const field = names.map((name) => (isPrintableKey(name) ? name : '?')).join('.');
  return { field: field === '' ? 'body' : field, reason };
}

function createBridgeError(errors: { field: string; reason: string }[]): HostError {
  return new HostError(
    'validation_failed',
    'the body is not a valid request to the console bridge',
    {
      errors,
    },
  );
}
