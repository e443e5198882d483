import { createHash } from 'node:crypto';
import { canonicalizeValue } from '../../contract/canonical-value.js';
import { compareTexts } from '../../lib/compare-texts.js';
import { digestText } from '../../lib/hash.js';
import { splitContent } from '../../store/releases/release-parts.js';

/** The files of a release by their path in the folder of descriptors, with `/`. */
export type ReleaseFiles = ReadonlyMap<string, Buffer>;

/** The maximum of all files together. */
const MAX_RELEASE_BYTES = 16 * 1024 * 1024;
export const MAX_RELEASE_FILES = 10_000;
const MAX_PATH_BYTES = 512;
const MAX_SEGMENT_BYTES = 240;
/** Neither control characters nor separators of other systems. */
const SEGMENT = /^[^\p{Cc}\p{Cs}/\\:*?"<>|]+$/u;

/**
 * The start of a private key in PEM, also within a JSON text. Its first line is a header or base64.
 */
const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:\s|\\[nr])+(?:Proc-Type:|[A-Za-z0-9+/]{32})/;

/** The problem of a path; `null` if it stays in the folder. */
export function findPathProblem(path: string): string | null {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  for (const segment of path.split('/')) {
    if (segment === '') return 'is empty, absolute or has two slashes in a row';
    // Rejects the folder of status files and steps out of the folder, for example.
    if (segment.startsWith('.')) return 'has a part that starts with a dot';
    if (!SEGMENT.test(segment)) return 'has a character that file names should not have';
    if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) {
      return `has a part longer than ${MAX_SEGMENT_BYTES} bytes`;
    }
  }
  return null;
}

/** The problem of the files of a release, as the path and the reason; `null` for none. */
export function findFilesProblem(
  files: ReleaseFiles,
): { readonly path: string; readonly reason: string } | null {
  if (files.size > MAX_RELEASE_FILES) {
    return { path: 'files', reason: `more than ${MAX_RELEASE_FILES} files` };
  }
  let bytes = 0;
  for (const [path, content] of files) {
    const reason = findPathProblem(path);
    if (reason !== null) return { path, reason };
    if (listFolders(path).some((folder) => files.has(folder))) {
      return { path, reason: 'is below a path that is a file' };
    }
    // Secrets must be references: every reader of releases would get the key.
    if (PRIVATE_KEY.test(content.toString('latin1'))) {
      return {
        path,
        reason: 'holds a private key, which a release must not: name its file by an absolute path',
      };
    }
    bytes += content.length;
  }
  return bytes <= MAX_RELEASE_BYTES
    ? null
    : { path: 'files', reason: `more than ${MAX_RELEASE_BYTES} bytes together` };
}

function listFolders(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'));
}

/** Names a release by its content and its base, so that equal releases have one name. */
export function digestRelease(
  files: ReleaseFiles,
  { base, leastVersion }: { readonly base: string | null; readonly leastVersion: string },
): string {
  const digests = [...files].map(([path, content]) => [path, digestBytes(content)]);
  const identity = { base, least_version: leastVersion, files: Object.fromEntries(digests) };
  return digestText(canonicalizeValue(identity));
}

export function digestBytes(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** The parts of a JSON text: base64 by path, sorted. Equal files have equal texts. */
export function encodeFiles(files: ReleaseFiles): readonly string[] {
  const sorted = [...files].toSorted(([a], [b]) => compareTexts(a, b));
  const encoded = sorted.map(([path, content]) => [path, content.toString('base64')]);
  return splitContent(JSON.stringify(Object.fromEntries(encoded)));
}

/** Decodes the joined parts of `encodeFiles`. */
export function decodeFiles(text: string): ReleaseFiles {
  return toFiles(JSON.parse(text) as Readonly<Record<string, string>>);
}

export function toFiles(encoded: Readonly<Record<string, string>>): ReleaseFiles {
  return new Map(
    Object.entries(encoded).map(([path, content]) => [path, Buffer.from(content, 'base64')]),
  );
}
