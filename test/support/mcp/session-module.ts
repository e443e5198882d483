import { waitUntil } from '../http/wait-until.js';
import { type RunningHost, startHost } from '../start-host.js';
import {
  type ServerOptions,
  startMcpServer,
  type TestServer,
  type TestTool,
} from './mcp-server.js';
import { describeTools } from './tools-module.js';

const TOOLS: readonly TestTool[] = [
  {
    name: 'session',
    call: (_args, { sessionId = 'none' }) => ({ content: [{ type: 'text', text: sessionId }] }),
  },
];

/** The detail of a call before the first handshake has ended. */
export const STARTING = 'the provider of the module is starting';

/** The default timeout of calls (5 s) is too short for a dozen of these tests at once. */
export const describeModule = (url: string, config: object = {}) =>
  describeTools({ url, ...config }, ['session'], { limits: { timeout_ms: 30_000 } });

interface Answer {
  readonly status: number;
  readonly text: string | undefined;
  readonly failure: string | undefined;
  readonly detail: string | undefined;
  readonly retryAfter: string | null;
}

/** Also while the session is not open yet. */
export async function callNow({ url }: RunningHost, actor = 'test'): Promise<Answer> {
  const response = await fetch(`${url}/modules/tools/http/tools/session`, {
    method: 'POST',
    headers: {
      authorization: `Bearer dev-service:${actor}:tools.use`,
      'content-type': 'application/json',
    },
    body: '{}',
  });
  // biome-ignore lint/suspicious/noExplicitAny: the envelope or a Problem
  const { data, errors = [], detail }: any = await response.json();
  const failure = errors.find(({ field }: { field: string }) => field === 'failure')?.reason;
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, text: data?.content[0].text, failure, detail, retryAfter };
}

/** Calls again while the first handshake takes its time. */
export async function callOnceOpen<T>(
  callTool: () => Promise<T>,
  readDetail: (answer: T) => string | undefined,
): Promise<T> {
  let answer = await callTool();
  await waitUntil('the session is open', async () => {
    if (!readDetail(answer)?.includes(STARTING)) return true;
    answer = await callTool();
    return false;
  });
  return answer;
}

export function call(host: RunningHost, actor?: string): Promise<Answer> {
  return callOnceOpen(
    () => callNow(host, actor),
    ({ detail }) => detail,
  );
}

interface Running<Server> {
  readonly host: RunningHost;
  readonly server: Server;
}

export async function run<Server extends TestServer>(
  server: Server,
  test: (running: Running<Server>) => Promise<void>,
  config: object = {},
  more: object = {},
): Promise<void> {
  const host = await startHost({
    files: { 'tools.yaml': { ...describeModule(server.url, config), ...more } },
  });
  try {
    await test({ host, server });
  } finally {
    await host.stop();
    await server.stop();
  }
}

export const answerWith = (id: unknown, result: object): Response =>
  Response.json({ jsonrpc: '2.0', id, result });

/** For notifications, and requests of newer revisions. */
export const decline = (id: unknown): Response =>
  new Response(null, { status: id === undefined ? 202 : 400 });

export const createHandshake = () => ({
  protocolVersion: '2025-11-25',
  capabilities: {},
  serverInfo: { name: 'own', version: '1' },
});

export const startServer = (options: ServerOptions) => startMcpServer(() => TOOLS, options);

export const count = ({ requests }: TestServer, method: string) =>
  requests.filter(({ text }) => text.includes(`"${method}"`)).length;

export const countHandshakes = (server: TestServer) => count(server, 'initialize');
