import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { CommandError } from '../command-error.js';

/** Error codes of a pipe that its reader has closed. */
const CLOSED = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/**
 * Resolves when the text has been written, or when its reader has exited: `modgate --help | head
 * -1` is not an error.
 * @throws CommandError when the text cannot be written, such as to a full disk.
 */
export async function writeStdout(text: string): Promise<void> {
  try {
    const stdout: Writable & { readonly fd: number } = process.stdout;
    if (stdout instanceof Socket) await writeStream(stdout, text);
    // A stream would not report that a full disk accepted only a part.
    else writeFileSync(stdout.fd, text);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (!CLOSED.has(code)) throw new CommandError(`stdout cannot be written (${code})`);
  }
}

function writeStream(stream: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
