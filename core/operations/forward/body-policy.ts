import { createHash, hash } from 'node:crypto';
import type { BodyRule, Method } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { HostError } from '../../errors.js';
import {
  findInvalidJson,
  findInvalidJsonInSlices,
  type InvalidJson,
  JsonCheck,
  listParts,
  MAX_PART_BYTES,
} from '../../lib/json/json-check.js';
import { isJsonMediaType, isListedType } from '../../lib/media-type.js';
import { andThen } from '../../lib/promises.js';
import { forEachInSlices } from '../../lib/slices.js';
import type { ByteRules } from '../../manifest/byte-rules.js';
import type { LiveRoute } from '../../modules/live-module.js';
import type { Upload } from '../../provider/provider-call.js';
import type { BodyCheck, CallerRequest } from '../request.js';
import type { MatchedRoute } from './route-call.js';

/** A long body may be streamed; `null` for none. */
type CheckedBody = Buffer | Upload | null;

/**
 * Reads and validates the body, and returns its bytes unchanged; returns `null` for a call without
 * one, and a promise only for a body that has not arrived, or is long. The body is parsed for
 * validation only, and never rewritten.
 * @param isStreamed whether a long body is validated while it is sent
 * @throws HostError 400 that names the invalid part.
 */
export function readCheckedBody(
  { method, body: rule, bodyBytes }: Pick<LiveRoute, 'method' | 'body' | 'bodyBytes'>,
  request: CallerRequest,
  limits: Descriptor['limits'],
  isStreamed: boolean,
): CheckedBody | Promise<CheckedBody> {
  if (rule === 'none') {
    const reason = `${method === 'DELETE' ? 'DELETE' : 'the route'} accepts no body`;
    return assertNoBody(request, () => createBodyError('body', reason, NO_BODY_ADVICE));
  }
  const isOptional = rule === 'optional';
  if (isOptional && mayBeWithoutType(request.headers)) {
    return assertNoBody(request, () => createBodyError('content-type', 'missing'));
  }
  assertBodyHeaders(request.headers, bodyBytes?.types ?? undefined);
  const body = isStreamed
    ? request.readOrStream(limits, createJsonCheck)
    : request.readBody(limits.request_bytes);
  return andThen(body, (read) => checkBody(read, isOptional));
}

function checkBody(body: Buffer | Upload, isOptional: boolean): CheckedBody | Promise<CheckedBody> {
  if (!Buffer.isBuffer(body)) return body;
  if (isOptional && body.length === 0) return null;
  const checked = assertLongJson(body);
  return checked === undefined ? body : checked.then(() => body);
}

function createJsonCheck(): BodyCheck {
  const check = new JsonCheck();
  const toError = (invalid: InvalidJson | null) =>
    invalid && createBodyError('body', invalid.reason);
  return { add: (part) => toError(check.add(part)), end: () => toError(check.end()) };
}

/** Whether a body is neither read nor rejected: that of a GET which declares none, and of HEAD. */
export function isBodyIgnored(
  requestMethod: string,
  { method, body }: { readonly method: Method; readonly body: BodyRule },
): boolean {
  return method === 'GET' && (body === 'none' || requestMethod === 'HEAD');
}

/** Whether the head announces a body, which may be empty if it is chunked. */
export function announcesBody(headers: CallerRequest['headers']): boolean {
  if (headers.get('transfer-encoding') !== undefined) return true;
  return Number(headers.get('content-length') ?? 0) > 0;
}

/** Whether a long JSON body may be streamed: a schema needs the complete body. */
export function isStreamedJson({ module, match }: MatchedRoute): boolean {
  const { hold_request_bytes, request_bytes } = module.descriptor.limits;
  if (hold_request_bytes >= request_bytes) return false;
  return module.client.streams && !match.value.schemas?.input;
}

/**
 * The rules for the byte body of a request; `null` for JSON, or no body. Beside JSON, only bodies of
 * a listed type are bytes.
 */
export function findByteRules(
  { bodyBytes }: Pick<LiveRoute, 'bodyBytes'>,
  headers: CallerRequest['headers'],
): ByteRules | null {
  if (bodyBytes === null) return null;
  if (!bodyBytes.besideJson) return bodyBytes;
  const isListed = isListedType(headers.get('content-type'), bodyBytes.types);
  return isListed && headers.count('content-type') === 1 ? bodyBytes : null;
}

/**
 * Checks the media type of a byte body, which an empty one does not need.
 * @returns a promise where only the body shows whether it is empty
 * @throws HostError 400 for a media type that the route does not list.
 */
export function checkByteType(
  request: CallerRequest,
  { types }: ByteRules,
): 'listed' | Promise<'empty'> {
  const { headers } = request;
  if (headers.count('content-type') > 1) throw createBytesError('repeated');
  const contentType = headers.get('content-type');
  if (isListedType(contentType, types)) return 'listed';
  const reason = contentType === undefined ? 'missing' : `expected ${types?.join(' or ')}`;
  return assertNoBody(request, () => createBytesError(reason)).then(() => 'empty');
}

function createBytesError(reason: string): HostError {
  return new HostError('validation_failed', 'the route does not take this body', {
    errors: [{ field: 'content-type', reason }],
    nextActions: ['send a body of a media type that the route lists'],
  });
}

/**
 * Checks the headers of a JSON body before it is read.
 * @param otherTypes media types that the route carries as well, for the message
 * @throws HostError 400.
 */
export function assertBodyHeaders(
  headers: CallerRequest['headers'],
  otherTypes: readonly string[] = [],
): void {
  assertNotEncoded(headers);
  assertJsonType(headers, otherTypes);
}

/** Whether the request has no body, or no type and then must have none. */
function mayBeWithoutType(headers: CallerRequest['headers']): boolean {
  return !announcesBody(headers) || headers.get('content-type') === undefined;
}

/** @throws the created error for a body that is not empty */
async function assertNoBody(request: CallerRequest, createError: () => HostError): Promise<null> {
  try {
    await request.readBody(0);
  } catch (error) {
    const isTooLong = error instanceof HostError && error.status === 400;
    throw isTooLong ? createError() : error;
  }
  return null;
}

function assertNotEncoded(headers: CallerRequest['headers']): void {
  const encoding = headers.get('content-encoding');
  if (encoding === undefined) return;
  const advice = 'send the body without content-encoding';
  if (headers.count('content-encoding') > 1) {
    throw createBodyError('content-encoding', 'repeated', advice);
  }
  if (encoding.toLowerCase() !== 'identity') {
    throw createBodyError('content-encoding', 'expected none, or identity', advice);
  }
}

function assertJsonType(headers: CallerRequest['headers'], otherTypes: readonly string[]): void {
  const contentType = headers.get('content-type');
  if (contentType === undefined) throw createBodyError('content-type', 'missing');
  if (headers.count('content-type') > 1) throw createBodyError('content-type', 'repeated');
  if (!isJsonMediaType(contentType)) {
    const expected = ['application/json', 'application/*+json', ...otherTypes];
    throw createBodyError('content-type', `expected ${expected.join(' or ')}`);
  }
}

/**
 * Checks a body of any length.
 * @throws like `assertJson`.
 */
function assertLongJson(body: Buffer): void | Promise<void> {
  if (body.length <= MAX_PART_BYTES) return assertJson(body);
  return findInvalidJsonInSlices([body]).then(assertValid);
}

/** @throws HostError 400 for a body that is empty, not UTF-8 or not JSON. */
export function assertJson(body: Buffer): void {
  if (body.length === 0) throw createBodyError('body', 'empty; expected a JSON value');
  assertValid(findInvalidJson([body], body.length));
}

function assertValid(invalid: InvalidJson | null): void {
  if (invalid !== null) throw createBodyError('body', invalid.reason);
}

function createBodyError(field: string, reason: string, advice = JSON_ADVICE): HostError {
  return new HostError('validation_failed', 'the body policy rejects the request', {
    errors: [{ field, reason }],
    nextActions: [advice],
  });
}

const NO_BODY_ADVICE = 'send the request without a body';
const JSON_ADVICE = 'send a JSON value in UTF-8 with content-type application/json';

const NO_BYTES = Buffer.alloc(0);

/**
 * Runs after the body policy and before the provider is called.
 * @param body the body for the provider; `null` for none
 * @throws HostError 401 if the credentials cover another body.
 */
export function assertSignedBody(
  { bodySha256 }: Pick<CallerRequest, 'bodySha256'>,
  body: Uint8Array | null,
): void | Promise<void> {
  if (bodySha256 === null) return;
  const bytes = body ?? NO_BYTES;
  const assertEqual = (digest: string) => assertDigest(digest, bodySha256);
  if (bytes.length <= MAX_PART_BYTES) return assertEqual(hash('sha256', bytes));
  return hashInSlices(bytes).then(assertEqual);
}

async function hashInSlices(bytes: Uint8Array): Promise<string> {
  const digest = createHash('sha256');
  await forEachInSlices(listParts(bytes), (part) => void digest.update(part));
  return digest.digest('hex');
}

function assertDigest(digest: string, expected: string): void {
  if (digest === expected) return;
  throw new HostError('unauthorized', 'the credentials are for another body', {
    step: 'actor',
    errors: [{ field: 'body', reason: 'not the body that the credentials cover' }],
    nextActions: ['sign the bytes of the body that is sent'],
  });
}
