import type { Socket } from 'node:net';
import { findReadMemory, type ReadMemory } from './read-memory.js';

const CONTINUE = 'HTTP/1.1 100';
/** Where a status begins, and the first digit of an interim one. */
const STATUS_AT = CONTINUE.indexOf('1', 'HTTP/1.1'.length);
const INTERIM = 0x31;
/** An interim response without a meaning for the request (RFC 2518, 10.1). */
const PROCESSING = 'HTTP/1.1 102';

/**
 * Holds the reads of one connection at a time, for a client that is slower than its provider. The
 * parser of undici 7 must not be paused: it throws where nothing can catch it if the connection
 * ends meanwhile.
 */
export class HeldReads {
  #socket: Socket | null = null;
  #isHeld = false;
  #isAtStart = false;
  #memory: ReadMemory | null = null;

  /** Whether the peer has ended the connection in order, and all its bytes are read. */
  get hasEnded(): boolean {
    return this.#socket?.readableEnded === true;
  }

  /** The memory of the connection; `null` without one. */
  get memory(): ReadMemory | null {
    return this.#memory;
  }

  /** Follows a new connection, of which nothing is read yet. */
  attach(socket: Socket): void {
    const read = socket.read.bind(socket);
    const memory = findReadMemory(socket);
    socket.read = (size) => {
      memory?.endParsing();
      if (this.#isHeld) return null;
      const chunk: Buffer | null = read(size);
      if (chunk === null) return null;
      if (this.#isAtStart) this.#begin(chunk);
      memory?.beginParsing(chunk);
      return chunk;
    };
    this.#socket = socket;
    this.#memory = memory;
    this.#isHeld = false;
  }

  hold(): void {
    this.#isHeld = true;
  }

  /** Call it when a request is sent: its response is read next. */
  expectResponse(): void {
    this.#isAtStart = true;
  }

  /** undici skips every interim response but a 100, for which it closes the connection. */
  #begin(chunk: Buffer): void {
    this.#isAtStart = false;
    if (chunk[STATUS_AT] !== INTERIM) return;
    if (chunk.toString('latin1', 0, CONTINUE.length) !== CONTINUE) return;
    chunk.write(PROCESSING, 'latin1');
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
