import {
  boolean,
  nullable,
  number,
  object,
  optional,
  pattern,
  record,
  size,
  string,
} from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { isVersion } from '../../lib/compare-versions.js';
import { measureJson } from '../../lib/json/json-check.js';
import {
  digestRelease,
  encodeFiles,
  findFilesProblem,
  MAX_RELEASE_FILES,
  type ReleaseFiles,
  toFiles,
} from '../../modules/releases/release-files.js';
import { assertJson } from '../forward/body-policy.js';
import { createInvalidBody, parseReleaseBody, requireDigest } from './release-body.js';

const MAX_NOTE_LENGTH = 1000;
/** PostgreSQL stores no NUL. */
const NOTE = /^[^\0]*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Those of the request itself. */
const OTHER_MEMBERS = 7;
/** The objects `files` and `canary`. */
const MAX_DEPTH = 2;

const publishBody = object({
  files: record(string(), string()),
  base: nullable(string()),
  note: optional(size(pattern(string(), NOTE), 0, MAX_NOTE_LENGTH)),
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

/** A release to publish, with all that follows from its files alone. */
export interface ReadPublish {
  readonly id: string;
  readonly files: ReleaseFiles;
  /** The files as the store keeps them. */
  readonly parts: readonly string[];
  readonly base: string | null;
  readonly note: string;
  /** The least version of modgate; by default that of the host. */
  readonly leastVersion: string;
  readonly canary: { readonly share: number; readonly allowUnproven: boolean } | null;
}

/**
 * Parses the body of `POST /releases`. It takes seconds for a large one.
 * @param version that of the host
 * @throws HostError 400.
 */
export function readPublish(body: Buffer, version: string): ReadPublish {
  assertFewMembers(body);
  const value = parseReleaseBody<PublishBody>(body, publishBody as AnyStruct);
  const { base, note = '', least_version: leastVersion = version, canary } = value;
  if (base !== null) requireDigest('base', base);
  if (!isVersion(leastVersion)) {
    throw createInvalidBody('least_version', 'must be a version such as 0.2.0');
  }
  if (canary !== undefined && !(canary.share > 0 && canary.share <= 1)) {
    throw createInvalidBody('canary.share', 'must be above 0, and at most 1');
  }
  const files = readFiles(value.files);
  return {
    id: digestRelease(files, { base, leastVersion }),
    files,
    parts: encodeFiles(files),
    base,
    note,
    leastVersion,
    canary:
      canary === undefined
        ? null
        : { share: canary.share, allowUnproven: canary.allow_unproven ?? false },
  };
}

/** Counts before the parse, because each member and each level costs many times its bytes. */
function assertFewMembers(body: Buffer): void {
  assertJson(body);
  const { members, depth } = measureJson(body);
  if (members > MAX_RELEASE_FILES + OTHER_MEMBERS) {
    throw createInvalidBody('files', `more than ${MAX_RELEASE_FILES} members`);
  }
  if (depth > MAX_DEPTH) throw createInvalidBody('body', `more than ${MAX_DEPTH} levels`);
}

function readFiles(encoded: Readonly<Record<string, string>>): ReleaseFiles {
  for (const [path, content] of Object.entries(encoded)) {
    // Other texts would decode to fewer bytes than were sent.
    if (content.length % 4 === 0 && BASE64.test(content)) continue;
    throw createInvalidBody(path.slice(0, MAX_NOTE_LENGTH), 'is not base64');
  }
  const files = toFiles(encoded);
  const problem = findFilesProblem(files);
  if (problem === null) return files;
  throw createInvalidBody(problem.path.slice(0, MAX_NOTE_LENGTH), problem.reason);
}
