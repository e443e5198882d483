import type { Socket } from 'node:net';

type WriteEnd = (error?: Error | null) => void;

/** The errors of a write to a provider that has closed its connection. */
const CLOSED: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET']);

/**
 * The writes to one connection at a time. A provider may answer a request early and close, which
 * makes a write fail while its response waits to be read. Such a write is never completed: the
 * connection stays open until it is read to its end.
 */
export class RequestWrites {
  #socket: Socket | null = null;
  #isPending = false;

  /** Whether the system has not taken everything that was written. */
  get isPending(): boolean {
    return this.#isPending;
  }

  /** Follows a new connection, to which nothing is written yet. */
  attach(socket: Socket): void {
    const { _write: write, _writev: writeAll } = socket;
    // A stream has one write at a time.
    let complete: WriteEnd;
    const end: WriteEnd = (error) => {
      if (error != null && CLOSED.has(Reflect.get(error, 'code'))) return;
      // Node completes the writes of a destroyed connection without an error.
      if (error == null && !socket.destroyed) this.#isPending = false;
      complete(error);
    };
    const begin = (completeWrite: WriteEnd) => {
      this.#isPending = true;
      complete = completeWrite;
    };
    socket._write = (chunk, encoding, completeWrite) => {
      begin(completeWrite);
      write.call(socket, chunk, encoding, end);
    };
    socket._writev = (chunks, completeWrite) => {
      begin(completeWrite);
      writeAll?.call(socket, chunks, end);
    };
    this.#socket = socket;
    this.#isPending = false;
  }

  /** Closes a connection that a later request cannot use. */
  close(): void {
    this.#socket?.destroy();
  }
}
