import { boolean, nullable, number, object, optional, record, size, string } from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { DIGEST } from '../../descriptor/identifiers.js';
import { validateStruct } from '../../document/validate.js';
import { HostError } from '../../errors.js';
import { isVersion } from '../../lib/compare-versions.js';
import { findFilesProblem, toFiles } from '../../modules/releases/release-files.js';
import { assertJson } from '../forward/body-policy.js';
import type { PublishInput } from './publish-release.js';

/** The maximum body: the files in base64, and their paths. */
export const MAX_RELEASE_BODY_BYTES = 24 * 1024 * 1024;
const MAX_NOTE_LENGTH = 1000;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const publishBody = object({
  files: record(string(), string()),
  base: nullable(string()),
  note: optional(size(string(), 0, MAX_NOTE_LENGTH)),
  least_version: optional(string()),
  canary: optional(object({ share: number(), allow_unproven: optional(boolean()) })),
});

interface PublishBody {
  readonly files: Readonly<Record<string, string>>;
  readonly base: string | null;
  readonly note?: string;
  readonly least_version?: string;
  readonly canary?: { readonly share: number; readonly allow_unproven?: boolean };
}

/** Parses the body of `POST /releases`. @throws HostError 400. */
export function parsePublish(body: Buffer): PublishInput {
  const value = parseBody<PublishBody>(body, publishBody as AnyStruct);
  const { base, note = '', least_version: leastVersion = null, canary } = value;
  if (base !== null) requireDigest('base', base);
  if (leastVersion !== null && !isVersion(leastVersion)) {
    throw createInvalid('least_version', 'must be a version such as 0.2.0');
  }
  if (canary !== undefined && !(canary.share > 0 && canary.share <= 1)) {
    throw createInvalid('canary.share', 'must be above 0, and at most 1');
  }
  return {
    files: readFiles(value.files),
    base,
    note,
    leastVersion,
    canary:
      canary === undefined
        ? null
        : { share: canary.share, allowUnproven: canary.allow_unproven ?? false },
  };
}

function readFiles(encoded: Readonly<Record<string, string>>): PublishInput['files'] {
  for (const [path, content] of Object.entries(encoded)) {
    // Other texts would decode to fewer bytes than were sent.
    if (content.length % 4 === 0 && BASE64.test(content)) continue;
    throw createInvalid(path.slice(0, MAX_NOTE_LENGTH), 'is not base64');
  }
  const files = toFiles(encoded);
  const problem = findFilesProblem(files);
  if (problem === null) return files;
  throw createInvalid(problem.path.slice(0, MAX_NOTE_LENGTH), problem.reason);
}

const rollbackBody = object({ release: nullable(string()) });

/** Parses the body of `POST /rollback`: `{"release": null}` or a digest. @throws HostError 400. */
export function parseRollback(body: Buffer): string | null {
  const { release } = parseBody<{ release: string | null }>(body, rollbackBody as AnyStruct);
  if (release !== null) requireDigest('release', release);
  return release;
}

function parseBody<T>(body: Buffer, struct: AnyStruct): T {
  assertJson(body);
  const value: unknown = JSON.parse(body.toString('utf8'));
  const [violation] = validateStruct(value, struct).violations;
  if (violation === undefined) return value as T;
  throw createInvalid(violation.path.join('.') || 'body', violation.message);
}

function requireDigest(field: string, text: string): void {
  if (!DIGEST.test(text)) throw createInvalid(field, 'must be the digest of a release');
}

function createInvalid(field: string, reason: string): HostError {
  return new HostError('validation_failed', 'the body is not valid for a release', {
    errors: [{ field, reason }],
  });
}
