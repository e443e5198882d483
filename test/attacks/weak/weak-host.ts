import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface WeakHost {
  readonly port: number;
  close(): Promise<void>;
}

/** Listens on a free port of loopback. */
export async function listen(onConnection: (socket: Socket) => void): Promise<WeakHost> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
