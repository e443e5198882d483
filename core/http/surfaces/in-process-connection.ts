import { Duplex } from 'node:stream';
import type { Actor } from '../../contract/index.js';
import type { Client } from '../../operations/request.js';

/** The caller for which a connection without a socket was opened. */
export interface InProcessCaller {
  /** The actor as the authenticators returned it. */
  readonly actor: Actor;
  readonly surface: string;
  /** The client of the request that the surface handles; `null` where it is not known. */
  readonly client: Client | null;
}

/** Connects both ends in memory. Only here does a connection get a caller: nothing that is sent decides it. */
export function createInProcessConnection(caller: InProcessCaller): {
  readonly client: Duplex;
  readonly server: Duplex;
} {
  const client = new ConnectionEnd(null);
  const server = new ConnectionEnd(caller);
  client.connect(server);
  server.connect(client);
  return { client, server };
}

/** One end of a connection in memory: what is written here is read at the other end. */
export class ConnectionEnd extends Duplex {
  /** `null` at the end of the caller. */
  readonly caller: InProcessCaller | null;
  #peer: ConnectionEnd | null = null;
  /** Called when the other end has room for more. */
  #onRead: (() => void) | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(caller: InProcessCaller | null) {
    super();
    this.caller = caller;
  }

  connect(peer: ConnectionEnd): void {
    this.#peer = peer;
  }

  /** Destroys the connection, as a socket does, if nothing of what was written is read for this long. */
  setTimeout(ms: number): this {
    clearTimeout(this.#timer);
    this.#timer = ms > 0 ? setTimeout(() => this.destroy(), ms).unref() : undefined;
    return this;
  }

  override _read(): void {
    const onRead = this.#onRead;
    this.#onRead = null;
    onRead?.();
  }

  override _write(chunk: Buffer, _encoding: string, onWritten: () => void): void {
    if (this.#peer === null || this.#peer.destroyed) {
      onWritten();
      return;
    }
    this.#peer.#receive(chunk, () => {
      this.#timer?.refresh();
      onWritten();
    });
  }

  override _final(onEnded: () => void): void {
    this.#peer?.push(null);
    onEnded();
  }

  override _destroy(error: Error | null, onDestroyed: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    const peer = this.#peer;
    // As a reset does; later, so that an end that was read completely closes by itself.
    setImmediate(() => {
      if (peer !== null && !peer.readableEnded) peer.destroy();
    });
    onDestroyed(error);
  }

  #receive(chunk: Buffer, onRead: () => void): void {
    if (chunk.length === 0 || this.push(chunk)) queueMicrotask(onRead);
    else this.#onRead = onRead;
  }
}
