import { closeSync, constants, fstatSync, open, read, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { decodeUtf8, isUtf16 } from '../lib/decode-utf8.js';
import { findInvalidUtf8 } from '../lib/invalid-utf8.js';
import { createFileDiagnostic, InvalidFile } from './diagnostic.js';
import { findKnownContent } from './known-files.js';
import { MAX_TEXT_LENGTH } from './parse-document.js';
import { BUSY_FILE, isTransient } from './transient-error.js';

const [openFile, readBytes] = [promisify(open), promisify(read)];

type FileErrorCode =
  | 'invalid-path'
  | 'file-missing'
  | 'file-unreadable'
  | 'file-busy'
  | 'not-a-file'
  | 'file-too-large'
  | 'invalid-utf8';

const FILE_ERRORS: Readonly<Record<FileErrorCode, string>> = {
  'invalid-path': 'contains a NUL character in its path',
  'file-missing': 'does not exist',
  'file-unreadable': 'cannot be read',
  'file-busy': 'cannot be read at the moment',
  'not-a-file': 'is not a regular file',
  'file-too-large': 'is larger than 4 MiB',
  'invalid-utf8': 'is not valid UTF-8',
};

/** The message completes a sentence that starts with the name of the file. */
export class FileError extends Error {
  override readonly name = 'FileError';
  readonly code: FileErrorCode;

  /** @param options `message` instead of that of the code */
  constructor(code: FileErrorCode, options: ErrorOptions & { readonly message?: string } = {}) {
    const { cause, message = FILE_ERRORS[code] } = options;
    super(cause === undefined ? message : describe(code, cause), options);
    this.code = code;
  }
}

export function describeUnreadable(error: unknown): string {
  return describe(isTransient(error) ? BUSY_FILE : 'file-unreadable', error);
}

/** Includes the code of the system, such as EACCES, which identifies the cause. */
function describe(code: FileErrorCode, cause: unknown): string {
  const { code: systemCode } = Object(cause) as { code?: unknown };
  const isNamed = code === BUSY_FILE || code === 'file-unreadable';
  const suffix = isNamed && typeof systemCode === 'string' ? ` (${systemCode})` : '';
  return `${FILE_ERRORS[code]}${suffix}`;
}

// Without O_NONBLOCK, opening a pipe would wait for a writer.
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;
/** The initial buffer for files whose size `stat` does not report. */
const MIN_BUFFER_BYTES = 4096;

/** @throws FileError when it is missing, unreadable, not a regular file or larger than 4 MiB. */
export async function readSmallFile(path: string, onOpen?: OnOpen): Promise<Buffer> {
  return findKnownContent(path) ?? readRegular(path, MAX_TEXT_LENGTH, OPEN_FLAGS, onOpen);
}

/**
 * Reads a file that the host writes itself. A symbolic link is not followed.
 * @throws FileError as {@link readSmallFile}.
 */
export function readHostFile(path: string, maxBytes: number = MAX_TEXT_LENGTH): Promise<Buffer> {
  return readRegular(path, maxBytes, OPEN_FLAGS | constants.O_NOFOLLOW);
}

/** Called with the status of a regular file before its content is read. */
type OnOpen = (status: Stats) => void;

async function readRegular(
  path: string,
  maxBytes: number,
  flags: number,
  onOpen?: OnOpen,
): Promise<Buffer> {
  try {
    return await readUpTo(path, maxBytes, flags, onOpen);
  } catch (error) {
    if (error instanceof FileError) throw error;
    const isLink = (error as NodeJS.ErrnoException).code === 'ELOOP';
    const code = isLink && (flags & constants.O_NOFOLLOW) !== 0 ? 'not-a-file' : codeOf(error);
    throw new FileError(code, { cause: error });
  }
}

/** @throws FileError as {@link readSmallFile}, and when the file is not UTF-8. */
export async function readTextFile(path: string, onOpen?: OnOpen): Promise<string> {
  const bytes = await readSmallFile(path, onOpen);
  const text = decodeUtf8(bytes);
  if (text === null) throw createEncodingError(bytes);
  return text;
}

/** Names the line, because an editor may show its characters as valid. */
export function createEncodingError(bytes: Uint8Array): FileError {
  if (isUtf16(bytes)) return new FileError('invalid-utf8', { message: 'is UTF-16, not UTF-8' });
  const valid = decodeUtf8(bytes.subarray(0, findInvalidUtf8(bytes))) ?? '';
  const line = valid.split('\n').length;
  return new FileError('invalid-utf8', { message: `is not valid UTF-8 in line ${line}` });
}

/** Ignores the size of `stat`, because the file may grow meanwhile. */
async function readUpTo(
  path: string,
  maxBytes: number,
  flags: number,
  onOpen?: OnOpen,
): Promise<Buffer> {
  const file = await openFile(path, flags);
  try {
    // An open file needs no thread for this, nor to be closed: each step in one takes 20 µs.
    const status = fstatSync(file);
    if (!status.isFile()) throw new FileError('not-a-file');
    onOpen?.(status);
    if (status.size > maxBytes) throw new FileError('file-too-large');
    let buffer = Buffer.allocUnsafeSlow(Math.max(status.size + 1, MIN_BUFFER_BYTES));
    let size = 0;
    for (;;) {
      const { bytesRead } = await readBytes(file, buffer, size, buffer.length - size, null);
      size += bytesRead;
      if (bytesRead === 0 || (size === status.size && size < buffer.length)) break;
      if (size > maxBytes) throw new FileError('file-too-large');
      if (size === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(size)]);
    }
    return Buffer.from(buffer.subarray(0, size));
  } finally {
    closeSync(file);
  }
}

function codeOf(error: unknown): FileErrorCode {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ERR_INVALID_ARG_VALUE') return 'invalid-path';
  // The error code of opening a socket.
  if (code === 'ENXIO') return 'not-a-file';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'file-missing';
  return isTransient(error) ? BUSY_FILE : 'file-unreadable';
}

/**
 * @throws InvalidFile for a missing, unreadable, irregular or too large file, and for invalid
 * UTF-8.
 */
export async function readFileText(file: string): Promise<string> {
  try {
    return await readTextFile(file);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new InvalidFile([createFileDiagnostic(file, error.code, error.message)]);
  }
}
