import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, other values as JSON. */
  readonly body: unknown;
}

export interface FakeHost {
  readonly url: string;
  /** The requests in order: `GET /modules`. */
  readonly requests: readonly string[];
  /** The last request's header. */
  lastHeader(name: string): string | undefined;
  close(): Promise<void>;
}

/** Responds like a host, for responses that a real one does not produce on demand. */
export async function startFakeHost(answer: (url: URL) => FakeAnswer, port = 0): Promise<FakeHost> {
  const requests: string[] = [];
  let last: IncomingMessage | undefined;
  const server = createServer((request, response) => {
    last = request;
    requests.push(`${request.method} ${request.url}`);
    const { status = 200, headers, body } = answer(new URL(request.url ?? '', 'http://host.test'));
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${chosen}`,
    requests,
    lastHeader: (name) => last?.headers[name] as string | undefined,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An entry of `GET /modules`. */
export function describeEntry(name: string, overrides: object = {}): object {
  return {
    name,
    module_id: name,
    file: `${name}.yaml`,
    state: 'live',
    digest: `sha256:${'a'.repeat(64)}`,
    config_digest: `sha256:${'b'.repeat(64)}`,
    console: { release: null, ui: [], grants: [] },
    since: new Date().toISOString(),
    reason: null,
    hint: null,
    attempts: 0,
    counts: { calls: 0, failed: 0, in_flight: 0, queued: 0 },
    endpoints: [],
    ...overrides,
  };
}
