import { Duplex } from 'node:stream';
import type { Actor, NamedOperation, Progress } from '../../contract/index.js';
import type { Mask } from '../../lib/secrets/mask-secrets.js';
import type { Client, CurrentActor } from '../../operations/request.js';

/** The caller for which a connection without a socket was opened. */
export interface InProcessCaller {
  readonly actor: Actor;
  /** Authenticates the credentials again with which the actor came. */
  readonly reauthenticate: () => Promise<CurrentActor>;
  /** Removes the credentials of the caller, which are not on this connection. */
  readonly mask: Mask;
  readonly surface: string;
  /** The client of the request that the surface handles; `null` if it is unknown. */
  readonly client: Client | null;
  /** The operation that an agent calls; `null` for a request as over HTTP. */
  readonly operation: NamedOperation | null;
  /** Receives the reports of a provider; `null` if the surface does not ask for them. */
  readonly onProgress: ((progress: Progress) => void) | null;
}

/**
 * Connects two ends in memory. Only this function sets a caller: no data on the connection decides
 * it.
 */
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

/** One end of a connection in memory: data written here is read at the other end. */
export class ConnectionEnd extends Duplex {
  /** `null` at the caller's end. */
  readonly caller: InProcessCaller | null;
  #peer: ConnectionEnd | null = null;
  /** Called when the other end can receive more data. */
  #onRead: (() => void) | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(caller: InProcessCaller | null) {
    super();
    this.caller = caller;
  }

  connect(peer: ConnectionEnd): void {
    this.#peer = peer;
  }

  /** Destroys the connection, like a socket, if no written data is read for this long. */
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
    // Behaves like a reset, but later, so that an end that was read completely closes by itself.
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
