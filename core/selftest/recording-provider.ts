import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface RecordedRequest {
  readonly method: string;
  /** The raw target. */
  readonly target: string;
  /** The headers as received, names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export type Script = (
  request: IncomingMessage,
  response: ServerResponse,
  recorded: RecordedRequest,
) => void;

/** @param connection receives bytes that are recorded as the body */
export type UpgradeScript = (request: IncomingMessage, connection: Duplex) => void;

/** A provider that records its requests and responds with 200 `{"ok":true}`, or by the script of the path. */
export interface RecordingProvider {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Handles the head of a request, whose body may stay unread. */
export type HeadScript = (request: IncomingMessage, response: ServerResponse) => void;

/** @param upgrades scripts by path; `null` handles an upgrade like any other request */
export async function startRecordingProvider(
  scripts: ReadonlyMap<string, Script> = new Map(),
  tls: ServerOptions | null = null,
  headScripts: ReadonlyMap<string, HeadScript> = new Map(),
  upgrades: ReadonlyMap<string, UpgradeScript> | null = null,
): Promise<RecordingProvider> {
  const requests: RecordedRequest[] = [];
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const headScript = headScripts.get(request.url?.split('?', 1)[0] ?? '');
    if (headScript !== undefined) {
      headScript(request, response);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', rawHeaders } = request;
      const recorded = { method, target: url, rawHeaders, body: Buffer.concat(chunks) };
      requests.push(recorded);
      const script = scripts.get(pathOf(url));
      if (script === undefined) respondOk(response);
      else script(request, response, recorded);
    });
  };
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener);
  const upgraded = new Set<Duplex>();
  if (upgrades !== null) {
    server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
      upgraded.add(connection);
      connection.on('error', () => {}).on('close', () => upgraded.delete(connection));
      requests.push(recordUpgrade(request, connection, head));
      upgrades.get(pathOf(request.url ?? ''))?.(request, connection);
    });
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === null ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const connection of upgraded) connection.destroy();
      }),
  };
}

/** Records the bytes of the connection as the body. */
function recordUpgrade(
  { method = '', url = '', rawHeaders }: IncomingMessage,
  connection: Duplex,
  head: Buffer,
): RecordedRequest {
  const chunks = [head];
  connection.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {
    method,
    target: url,
    rawHeaders,
    get body() {
      return Buffer.concat(chunks);
    },
  };
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}

function respondOk(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  response.end('{"ok":true}');
}

/** All values of a header, with names compared like CGI: case-insensitive, `_` equal to `-`. */
export function readRecordedHeader({ rawHeaders }: RecordedRequest, name: string): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const key = rawHeaders[index]?.toLowerCase().replaceAll('_', '-');
    if (key === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
