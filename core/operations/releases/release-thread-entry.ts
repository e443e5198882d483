import { parentPort } from 'node:worker_threads';
import { HostError } from '../../errors.js';
import {
  decodeFiles,
  digestRelease,
  type ReleaseFiles,
} from '../../modules/releases/release-files.js';
import { readVersion } from '../../version.js';
import { readPublish } from './read-publish.js';
import type { SentFiles, ThreadRequest, ThreadResult } from './release-thread.js';

parentPort?.on('message', ({ pieces, stored }: ThreadRequest) => {
  const bytes = Buffer.concat(pieces);
  const result = stored === null ? answerPublish(bytes) : decodeStored(bytes, stored);
  const transferred = 'files' in result ? [result.files.bytes.buffer as ArrayBuffer] : [];
  parentPort?.postMessage(result, transferred);
});

function answerPublish(body: Buffer): ThreadResult {
  try {
    const { files, ...release } = readPublish(body, readVersion());
    return { files: join(files), release };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { detail, errors, nextActions } = error;
    return { problem: { detail, errors, nextActions } };
  }
}

function decodeStored(
  text: Buffer,
  { id, ...identity }: NonNullable<ThreadRequest['stored']>,
): ThreadResult {
  const files = parseStored(text);
  const isIntact = files !== null && digestRelease(files, identity) === id;
  return isIntact ? { files: join(files), release: null } : { damaged: true };
}

function parseStored(text: Buffer): ReleaseFiles | null {
  try {
    return decodeFiles(text.toString('latin1'));
  } catch {
    return null;
  }
}

function join(files: ReleaseFiles): SentFiles {
  const contents = [...files.values()];
  const lengths = contents.map(({ length }) => length);
  // A copy, because a small `Buffer` shares its memory with others.
  return { paths: [...files.keys()], lengths, bytes: new Uint8Array(Buffer.concat(contents)) };
}
