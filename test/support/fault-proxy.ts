import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePort } from './free-port.js';

/** A fault of the connection to the provider. Byte offsets count from the start of a response. */
export type Fault =
  | { readonly kind: 'none' }
  /** New connections are refused, and open ones are reset. */
  | { readonly kind: 'refuse' }
  /** Connections are reset at a request, before the provider gets it. */
  | { readonly kind: 'hang_up' }
  /** Requests and responses are dropped. Connections stay open. */
  | { readonly kind: 'blackhole' }
  /** The connection is reset within the response, by default before its first byte. */
  | { readonly kind: 'reset'; readonly afterBytes?: number }
  /** The connection is closed within the response, by default before its first byte. */
  | { readonly kind: 'half_close'; readonly afterBytes?: number }
  | { readonly kind: 'latency'; readonly ms: number }
  /** The response is sent in small pieces. */
  | { readonly kind: 'trickle'; readonly bytes: number; readonly everyMs: number }
  /** Limits the bandwidth of requests and responses. */
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /** All bits of one byte of the response are inverted. */
  | { readonly kind: 'corrupt'; readonly atByte: number };

export interface FaultProxy {
  readonly url: string;
  readonly port: number;
  /** Open connections. */
  readonly connections: number;
  /** Connections accepted so far. */
  readonly accepted: number;
  /** Applies to open connections too. */
  set(fault: Fault): Promise<void>;
  /** Turns the fault on and off repeatedly until the next `set`. */
  flap(fault: Fault, everyMs: number): void;
  stop(): Promise<void>;
}

const NO_FAULT: Fault = { kind: 'none' };

/** The interval between pieces under `bandwidth`. */
const PIECE_MS = 20;

/** A TCP proxy on a free port of loopback, in front of a provider on another. */
export async function startFaultProxy(targetPort: number): Promise<FaultProxy> {
  const pipes = new Set<Pipe>();
  let accepted = 0;
  let fault = NO_FAULT;
  let flapping: NodeJS.Timeout | undefined;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    accepted += 1;
    const pipe = new Pipe(client, targetPort, () => fault);
    pipes.add(pipe);
    client.once('close', () => pipes.delete(pipe));
  });
  // Closed for a while by `refuse`: no other process may get it meanwhile.
  const port = await listen(server, await findFreePort());

  const apply = async (next: Fault) => {
    fault = next;
    if (fault.kind === 'refuse') {
      for (const pipe of pipes) pipe.reset();
      if (server.listening) server.close();
    } else if (!server.listening) {
      await listen(server, port);
    }
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get connections() {
      return pipes.size;
    },
    get accepted() {
      return accepted;
    },
    set: (next) => {
      clearInterval(flapping);
      return apply(next);
    },
    flap: (next, everyMs) => {
      clearInterval(flapping);
      // Never rejects: only the proxy uses the port.
      flapping = setInterval(() => void apply(fault === next ? NO_FAULT : next), everyMs);
    },
    stop: async () => {
      clearInterval(flapping);
      for (const pipe of pipes) pipe.reset();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** One connection of the host and its connection to the provider. */
class Pipe {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #fault: () => Fault;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The time at which the limited bandwidth is available again, by socket. */
  readonly #freeAt = new Map<Socket, number>();
  /** Bytes of the current response received from the provider. */
  #answered = 0;
  #isCut = false;

  constructor(client: Socket, targetPort: number, fault: () => Fault) {
    this.#client = client;
    this.#fault = fault;
    this.#upstream = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, this.#upstream]) {
      socket.setNoDelay(true);
      // Resets are expected.
      socket.on('error', () => {});
    }
    client.on('data', (bytes) => this.#forward(bytes));
    client.on('end', () => this.#upstream.end());
    client.on('close', () => this.#end());
    this.#upstream.on('data', (bytes) => this.#answer(bytes));
    this.#upstream.on('end', () => client.end());
    this.#upstream.on('close', () => {
      if (!this.#isCut && this.#fault().kind !== 'blackhole') client.end();
    });
  }

  reset(): void {
    this.#isCut = true;
    this.#client.resetAndDestroy();
  }

  #forward(bytes: Buffer): void {
    const fault = this.#fault();
    this.#answered = 0;
    if (fault.kind === 'hang_up') this.reset();
    else if (fault.kind === 'bandwidth')
      this.#throttle(this.#upstream, bytes, fault.bytesPerSecond);
    else if (fault.kind !== 'blackhole') this.#upstream.write(bytes);
  }

  #answer(bytes: Buffer): void {
    const fault = this.#fault();
    const before = this.#answered;
    this.#answered += bytes.length;
    if (this.#isCut || fault.kind === 'blackhole') return;
    if (fault.kind === 'reset' || fault.kind === 'half_close') {
      this.#cut(fault, bytes, before);
    } else if (fault.kind === 'latency') {
      this.#later(fault.ms, () => this.#client.write(bytes));
    } else if (fault.kind === 'trickle') {
      this.#trickle(bytes, fault.bytes, fault.everyMs);
    } else if (fault.kind === 'bandwidth') {
      this.#throttle(this.#client, bytes, fault.bytesPerSecond);
    } else {
      if (fault.kind === 'corrupt') invertByte(bytes, fault.atByte - before);
      this.#client.write(bytes);
    }
  }

  #cut(fault: Extract<Fault, { afterBytes?: number }>, bytes: Buffer, before: number): void {
    const rest = (fault.afterBytes ?? 0) - before;
    if (rest >= bytes.length) {
      this.#client.write(bytes);
      return;
    }
    this.#isCut = true;
    const end = () => {
      if (fault.kind === 'reset') this.#client.resetAndDestroy();
      else this.#client.end();
    };
    if (rest <= 0) end();
    else this.#client.write(bytes.subarray(0, rest), end);
  }

  #trickle(bytes: Buffer, size: number, everyMs: number): void {
    for (let at = 0, piece = 1; at < bytes.length; at += size, piece += 1) {
      this.#later(piece * everyMs, () => this.#client.write(bytes.subarray(at, at + size)));
    }
  }

  /** Sends after all earlier bytes have been sent. */
  #throttle(to: Socket, bytes: Buffer, bytesPerSecond: number): void {
    const size = Math.max(1, Math.round((bytesPerSecond * PIECE_MS) / 1000));
    const now = performance.now();
    let at = Math.max(now, this.#freeAt.get(to) ?? 0);
    for (let from = 0; from < bytes.length; from += size) {
      at += PIECE_MS;
      this.#later(at - now, () => to.write(bytes.subarray(from, from + size)));
    }
    this.#freeAt.set(to, at);
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (this.#client.writable) act();
    }, ms);
    this.#timers.add(timer);
  }

  #end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#upstream.destroy();
  }
}

function invertByte(bytes: Buffer, at: number): void {
  const byte = bytes[at];
  if (byte !== undefined) bytes[at] = byte ^ 0xff;
}
