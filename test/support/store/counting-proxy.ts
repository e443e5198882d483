import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Messages of PostgreSQL that run a statement: Query and Execute. */
const STATEMENTS: ReadonlySet<number> = new Set([...'QE'].map((type) => type.charCodeAt(0)));
const TYPE_BYTES = 1;
const LENGTH_BYTES = 4;

/** Counts what clients of a PostgreSQL server send. */
interface CountingProxy {
  readonly port: number;
  readonly statements: number;
  /** The largest number of connections that were open at one time. */
  readonly maxConnections: number;
  close(): Promise<void>;
}

export async function startCountingProxy(target: {
  host: string;
  port: number;
}): Promise<CountingProxy> {
  const sockets = new Set<Socket>();
  const counts = { statements: 0, open: 0, maxConnections: 0 };
  const server = createServer((client) => {
    const upstream = connect(target);
    counts.open += 1;
    counts.maxConnections = Math.max(counts.maxConnections, counts.open);
    const count = createCounter(() => {
      counts.statements += 1;
    });
    client.on('data', count);
    client.once('close', () => {
      counts.open -= 1;
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get statements() {
      return counts.statements;
    },
    get maxConnections() {
      return counts.maxConnections;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The first message, which starts the session, has no type. */
function createCounter(onStatement: () => void): (chunk: Buffer) => void {
  let waiting: Buffer = Buffer.alloc(0);
  let typeBytes = 0;
  return (chunk) => {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length >= typeBytes + LENGTH_BYTES) {
      const length = typeBytes + waiting.readUInt32BE(typeBytes);
      if (waiting.length < length) return;
      if (typeBytes > 0 && STATEMENTS.has(waiting[0] ?? 0)) onStatement();
      waiting = waiting.subarray(length);
      typeBytes = TYPE_BYTES;
    }
  };
}
