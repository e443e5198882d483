import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePort } from '../support/free-port.js';

/** A connection to a server that a test can cut, block and restore. */
export interface TcpProxy {
  readonly port: number;
  /** Resets every connection and rejects new ones. */
  cut(): Promise<void>;
  /** Accepts connections again, on the same port. */
  restore(): Promise<void>;
  /** Keeps and accepts connections, but forwards nothing. */
  block(): void;
  unblock(): void;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isBlocked = false;
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('data', (bytes) => to.write(bytes));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    if (isBlocked) from.pause();
  };
  const listen = async (port: number): Promise<Server> => {
    const listening = createServer((client) => {
      const upstream = connect(target);
      pass(client, upstream);
      pass(upstream, client);
    });
    listening.listen(port, '127.0.0.1');
    await once(listening, 'listening');
    return listening;
  };
  // Closed for a while by `cut`: no other process may get it meanwhile.
  const port = await findFreePort();
  let server = await listen(port);
  return {
    port,
    cut: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.resetAndDestroy();
      await closed;
    },
    restore: async () => {
      server = await listen(port);
    },
    block: () => {
      isBlocked = true;
      for (const socket of sockets) socket.pause();
    },
    unblock: () => {
      isBlocked = false;
      for (const socket of sockets) socket.resume();
    },
  };
}
