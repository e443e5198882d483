import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RunningProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a proxy that adds a bearer token to each request, and makes its own port that of the host. */
export async function startTokenProxy(port: number, token: string): Promise<RunningProxy> {
  const server = createServer((incoming, outgoing) => {
    const { method, url: path } = incoming;
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
    for (const name of ['host', 'origin'] as const) {
      const value = headers[name];
      if (value !== undefined)
        headers[name] = value.replace(`:${incoming.socket.localPort}`, `:${port}`);
    }
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
