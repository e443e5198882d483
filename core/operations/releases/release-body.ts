import type { AnyStruct } from '../../contract/described.js';
import { DIGEST } from '../../descriptor/identifiers.js';
import { validateStruct } from '../../document/validate.js';
import { HostError } from '../../errors.js';
import { skipMark } from '../../lib/byte-order-mark.js';

/** Parses the JSON of a request about releases. @throws HostError 400. */
export function parseReleaseBody<T>(body: Buffer, struct: AnyStruct): T {
  const value: unknown = JSON.parse(skipMark(body).toString('utf8'));
  const [violation] = validateStruct(value, struct).violations;
  if (violation === undefined) return value as T;
  throw createInvalidBody(violation.path.join('.') || 'body', violation.message);
}

/** @throws HostError 400. */
export function requireDigest(field: string, text: string): void {
  if (!DIGEST.test(text)) throw createInvalidBody(field, 'must be the digest of a release');
}

export function createInvalidBody(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'the body is not valid for a release', {
    errors: [{ field, reason }],
  });
}
