import type { Socket } from 'node:net';

/**
 * Holds the reads of one connection at a time, for a client that is slower than its provider. The
 * parser of undici 7 must not be paused: it throws where nothing can catch it if the connection
 * ends meanwhile.
 */
export class HeldReads {
  #socket: Socket | null = null;
  #isHeld = false;

  /** Whether the peer has ended the connection in order, and all its bytes are read. */
  get hasEnded(): boolean {
    return this.#socket?.readableEnded === true;
  }

  /** Follows a new connection, of which nothing is read yet. */
  attach(socket: Socket): void {
    const read = socket.read.bind(socket);
    socket.read = (size) => (this.#isHeld ? null : read(size));
    this.#socket = socket;
    this.#isHeld = false;
  }

  hold(): void {
    this.#isHeld = true;
  }

  /**
   * Reads on, deferred: the parser cannot be called from its own handlers, and the next part would
   * be joined with one that is not read yet.
   */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    const socket = this.#socket;
    queueMicrotask(() => socket?.emit('readable'));
  }
}
