import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface SilentServer {
  /** `127.0.0.1:4100` */
  readonly address: string;
  /** Whether something has arrived. */
  isWaiting(): boolean;
  stop(): Promise<void>;
}

/** Accepts connections, reads, and never answers. */
export async function startSilentServer(): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  let hasReceived = false;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', () => {
      hasReceived = true;
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    isWaiting: () => hasReceived,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
