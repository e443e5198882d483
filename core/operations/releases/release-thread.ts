import type { BodyPieces } from '../../contract/body-pieces.js';
import { createUnavailable, HostError } from '../../errors.js';
import { IdleThread, isThreadLacking } from '../../lib/idle-thread.js';
import { forEachInSlices } from '../../lib/slices.js';
import type { ReleaseFiles } from '../../modules/releases/release-files.js';
import type { ReleaseStore } from '../../store/releases/release-store.js';
import type { StoredRelease } from '../../store/releases/releases.js';
import type { ReadPublish } from './read-publish.js';
import { createInvalidBody } from './release-body.js';

/** Files in one block of memory. */
export interface SentFiles {
  readonly paths: readonly string[];
  /** Of each file. Bytes. */
  readonly lengths: readonly number[];
  readonly bytes: Uint8Array;
}

type Identity = Pick<StoredRelease, 'id' | 'base'> & { readonly leastVersion: string };

export interface ThreadRequest {
  /** Of the body of a publish, or of a stored release. */
  readonly pieces: readonly Uint8Array[];
  /** `null` for a publish. */
  readonly stored: Identity | null;
}

/** The release, or the reason why there is none. */
export type ThreadResult =
  | { readonly files: SentFiles; readonly release: Omit<ReadPublish, 'files'> | null }
  | { readonly problem: Pick<HostError, 'detail' | 'errors' | 'nextActions'> }
  | { readonly damaged: true };

/** A few times the values of the largest body. */
const MAX_HEAP_MB = 1024;
/** The thread exits after this time without requests. Milliseconds. */
const IDLE_MS = 10_000;
const MAX_MS = 60_000;

const thread = new IdleThread<ThreadRequest, ThreadResult>({
  entry: new URL('./release-thread-entry.js', import.meta.url),
  name: 'releases',
  idleMs: IDLE_MS,
  maxMs: MAX_MS,
  resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
});

/** The last request of the thread, which answers one after another. */
let last: Promise<unknown> = Promise.resolve();

/** @throws HostError 503 if the system lacks the resources for the thread. */
function ask(pieces: readonly Uint8Array<ArrayBuffer>[], stored: Identity | null) {
  const transferred = pieces.map(({ buffer }) => buffer);
  const asking = last.then(() => thread.ask({ pieces, stored }, transferred));
  last = asking.catch(() => {});
  return asking.catch((error: unknown) => {
    if (!isThreadLacking(error)) throw error;
    throw createUnavailable('no thread can be created', { cause: error });
  });
}

/**
 * Parses the body of `POST /releases` in a thread, so that other requests do not wait.
 * @throws HostError 400; 503 if the system lacks the resources for the thread.
 */
export async function parsePublish({ list }: BodyPieces): Promise<ReadPublish> {
  const copies: Uint8Array<ArrayBuffer>[] = [];
  // Pieces share their memory with others, which the thread must not take.
  await forEachInSlices(list, (piece) => copies.push(new Uint8Array(piece)));
  const result = await ask(copies, null).catch((error: unknown) => {
    const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    throw isTooLarge ? createInvalidBody('body', 'needs too much memory') : error;
  });
  if ('files' in result && result.release !== null) {
    return { ...result.release, files: await toFiles(result.files) };
  }
  if (!('problem' in result)) throw new Error('the thread has answered another request');
  const { detail, errors, nextActions } = result.problem;
  throw new HostError('validation_failed', detail, { errors, nextActions });
}

/**
 * Reads the files of a stored release and decodes them in the thread.
 * @returns `null` if they are not those that were published, or are removed meanwhile
 */
export async function readStoredFiles(
  releases: Pick<ReleaseStore, 'readParts'>,
  fleet: string,
  { id, base, least_version: leastVersion }: Pick<StoredRelease, 'id' | 'base' | 'least_version'>,
): Promise<ReleaseFiles | null> {
  const parts = await readStoredParts(releases, fleet, id);
  const result = await ask(parts, { id, base, leastVersion });
  return 'files' in result ? toFiles(result.files) : null;
}

/** The text of the files as it is stored, in ASCII. */
export async function readStoredParts(
  releases: Pick<ReleaseStore, 'readParts'>,
  fleet: string,
  id: string,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of releases.readParts(fleet, id)) {
    parts.push(new TextEncoder().encode(part));
  }
  return parts;
}

async function toFiles({ paths, lengths, bytes }: SentFiles): Promise<ReleaseFiles> {
  const files = new Map<string, Buffer>();
  let start = bytes.byteOffset;
  await forEachInSlices(paths.entries(), ([index, path]) => {
    const length = lengths[index] ?? 0;
    files.set(path, Buffer.from(bytes.buffer, start, length));
    start += length;
  });
  return files;
}
