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
    const begin = (end: WriteEnd) => this.#begin(socket, end);
    socket._write = (chunk, encoding, end) => write.call(socket, chunk, encoding, begin(end));
    socket._writev = (chunks, end) => writeAll?.call(socket, chunks, begin(end));
    this.#socket = socket;
    this.#isPending = false;
  }

  /** Closes a connection that a later request cannot use. */
  close(): void {
    this.#socket?.destroy();
  }

  #begin(socket: Socket, end: WriteEnd): WriteEnd {
    this.#isPending = true;
    return (error) => {
      if (error != null && CLOSED.has(Reflect.get(error, 'code'))) return;
      // Node completes the writes of a destroyed connection without an error.
      if (error == null && !socket.destroyed) this.#isPending = false;
      end(error);
    };
  }
}
