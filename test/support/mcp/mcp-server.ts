import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server as NodeServer,
  type RequestListener,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TlsOptions } from 'node:tls';
import {
  createMcpHandler,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

export interface TestTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema?: object;
  readonly outputSchema?: object;
  readonly annotations?: object;
  readonly call?: (args: Record<string, unknown>, context: ServerContext) => unknown;
}

export interface TestServer {
  /** Its address for `provider.config.url`. */
  readonly url: string;
  /** The requests that it got, the latest last. */
  readonly requests: readonly {
    readonly method: string;
    readonly headers: NodeJS.Dict<string | string[]>;
    readonly text: string;
  }[];
  stop(): Promise<void>;
}

/** The signal is aborted when the client has left; that of a request may be collected before. */
type Answer = (request: Request, signal: AbortSignal) => Promise<Response>;

export interface ServerOptions {
  /** Default `stateless`: the official handler of the newest revision, which also serves older ones. */
  readonly mode?: 'stateless' | 'sessions';
  /** Resources by URI. Default: none, and no capability for them. */
  readonly resources?: Readonly<Record<string, object>>;
  /** Default: a free one. */
  readonly port?: number;
  /** The revisions that it speaks, the newest first. */
  readonly revisions?: string[];
}

/** Starts a server of the official library. Its tools are read for each list and call. */
export async function startMcpServer(
  tools: () => readonly TestTool[],
  { mode = 'stateless', port, revisions, resources }: ServerOptions = {},
): Promise<TestServer & { forgetSessions(): void; announceTools(): void }> {
  const create = () => {
    const server = new Server(
      { name: 'test', version: '1' },
      {
        capabilities: {
          tools: { listChanged: true },
          ...(resources && { resources: {} }),
        },
        ...(revisions && { supportedProtocolVersions: revisions }),
      },
    );
    server.setRequestHandler('tools/list', () => ({
      tools: tools().map(({ call, inputSchema = { type: 'object' }, ...tool }) => ({
        ...tool,
        inputSchema,
      })) as never,
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const tool = tools().find(({ name }) => name === params.name);
      if (tool?.call === undefined) return { content: [], isError: true };
      return (await tool.call(params.arguments ?? {}, context)) as never;
    });
    if (resources !== undefined) serveResources(server, resources);
    return server;
  };
  const sessions = new Map<
    string,
    { server: Server; transport: WebStandardStreamableHTTPServerTransport }
  >();
  const handler = createMcpHandler(create);
  const answerSession: Answer = async (request) => {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : sessions.get(id);
    if (known !== undefined) return known.transport.handleRequest(request);
    if (id !== null) return new Response('no such session', { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => {
        sessions.set(session, { server, transport });
      },
    });
    const server = create();
    await server.connect(transport);
    return transport.handleRequest(request);
  };
  const running = await serveFetch(
    mode === 'sessions' ? answerSession : (request) => handler.fetch(request),
    port,
  );
  return {
    ...running,
    forgetSessions: () => sessions.clear(),
    announceTools: () => {
      handler.notify.toolsChanged();
      for (const { server } of sessions.values()) void server.sendToolListChanged();
    },
  };
}

function serveResources(server: Server, resources: Readonly<Record<string, object>>): void {
  server.setRequestHandler('resources/list', () => ({
    resources: Object.keys(resources).map((uri) => ({ uri, name: uri })),
  }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
    contents: [{ uri, ...resources[uri] }] as never,
  }));
}

/** Serves a handler of the fetch standard at `/mcp`. @param tls default: plain HTTP */
export async function serveFetch(
  answer: Answer,
  port = 0,
  tls: TlsOptions | null = null,
): Promise<TestServer> {
  const requests: TestServer['requests'][number][] = [];
  const listener: RequestListener = async (incoming, outgoing) => {
    const text = await readBody(incoming);
    const { method = 'GET', url = '/' } = incoming;
    requests.push({ method, headers: incoming.headers, text });
    const controller = new AbortController();
    outgoing.on('close', () => controller.abort());
    const response = await answer(
      new Request(`http://localhost${url}`, {
        method,
        headers: incoming.headers as Record<string, string>,
        signal: controller.signal,
        ...(text !== '' && { body: text }),
      }),
      controller.signal,
    );
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    try {
      for await (const part of response.body ?? []) {
        if (!outgoing.write(part)) await once(outgoing, 'drain', { signal: controller.signal });
      }
      outgoing.end();
    } catch {
      outgoing.destroy();
    }
  };
  const server = tls === null ? createServer(listener) : createTlsServer(tls, listener);
  // A busy machine may leave a connection unused for longer than the default of 5 s.
  server.keepAliveTimeout = 60_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${tls === null ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    stop: () => stop(server),
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function stop(server: NodeServer): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
