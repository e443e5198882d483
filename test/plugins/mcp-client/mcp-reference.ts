import type { HttpRouteOperation, Outcome } from '../../../core/contract/index.js';
import { isBodyStream } from '../../../core/contract/index.js';
import type { ReferenceModule, RouteCall, RunningReference } from '../../../core/testkit/index.js';
import { startFaultProxy } from '../../support/fault-proxy.js';
import { serveFetch, startMcpServer, type TestTool } from '../../support/mcp/mcp-server.js';

/** The arguments of the tool: a call of the reference module. */
interface Arguments {
  readonly method: string;
  readonly target: string;
  /** In hex, so that parts can follow each other. */
  readonly body?: string;
}

/** The text of its result: a response of the reference module. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In base64. */
  readonly body: string | null;
}

const PATH = '/tools/call';
/** The call for which the server reports progress. */
const PROGRESS = '/echo/progress';

/** Serves the reference module as one tool of a server of the official library, reached through a proxy. */
export async function startMcpReference(reference: ReferenceModule): Promise<RunningReference> {
  const tool: TestTool = {
    name: 'call',
    call: async (args, { http, mcpReq }) => {
      const { method, target, body } = args as unknown as Arguments;
      const { progressToken } = mcpReq._meta ?? {};
      if (target === PROGRESS && progressToken !== undefined) {
        const params = { progressToken, progress: 1, total: 2 };
        await mcpReq.notify({ method: 'notifications/progress', params });
      }
      const {
        status,
        headers,
        body: bytes,
      } = await reference.answer({
        method,
        target,
        headers: Object.fromEntries(http?.req?.headers ?? []),
        body: body === undefined ? null : Buffer.from(body, 'hex'),
      });
      const lines = Object.entries(headers).map(([name, value]) => {
        return [name.toLowerCase(), [value].flat().join(', ')];
      });
      const text = bytes === null ? null : Buffer.from(bytes).toString('base64');
      const answer = { status, headers: Object.fromEntries(lines), body: text };
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    },
  };
  const server = await startMcpServer(() => [tool], { mode: 'sessions' });
  let started = Promise.resolve();
  const gate = await serveFetch(async (request) => {
    const { method, headers } = request;
    // Set anew for the body.
    headers.delete('content-length');
    const body = await request.text();
    if (body.includes('"initialize"')) await started;
    return fetch(server.url, { method, headers, ...(body !== '' && { body }) });
  });
  const proxy = await startFaultProxy(Number(new URL(gate.url).port));
  return {
    config: { url: `${proxy.url}/mcp` },
    carried: {
      routes: [{ method: 'POST', path: PATH, capability: 'reference.use' }],
      write: writeCall,
      read: readAnswer,
    },
    progress: { target: PROGRESS },
    holdStart: () => {
      let start = () => {};
      started = new Promise((resolve) => {
        start = resolve;
      });
      return start;
    },
    connections: () => proxy.connections,
    down: () => proxy.set({ kind: 'refuse' }),
    up: () => proxy.set({ kind: 'none' }),
    stop: async () => {
      await proxy.stop();
      await gate.stop();
      await server.stop();
    },
  };
}

function writeCall({ method, target, body, bodyStream }: HttpRouteOperation): RouteCall {
  const tool = { method: 'POST', target: PATH } as const;
  const head = JSON.stringify({ method, target });
  if (bodyStream !== undefined) return { ...tool, bodyStream: writeParts(head, bodyStream) };
  const hex = body === null ? {} : { body: Buffer.from(body).toString('hex') };
  return { ...tool, body: Buffer.from(JSON.stringify({ method, target, ...hex })) };
}

async function* writeParts(head: string, parts: AsyncIterable<Uint8Array>) {
  yield Buffer.from(`${head.slice(0, -1)},"body":"`);
  for await (const part of parts) yield Buffer.from(Buffer.from(part).toString('hex'));
  yield Buffer.from('"}');
}

async function readAnswer(outcome: Outcome): Promise<Outcome> {
  const { body } = outcome;
  const isStream = body !== null && isBodyStream(body);
  const parts: Uint8Array[] = [];
  for await (const part of isStream ? body : [body ?? []].flat()) parts.push(part as Uint8Array);
  const { content } = JSON.parse(Buffer.concat(parts).toString());
  const answer = JSON.parse(content[0].text) as Answer;
  const bytes = answer.body === null ? null : Buffer.from(answer.body, 'base64');
  return { ...outcome, ...answer, body: isStream && bytes !== null ? streamOf(bytes) : bytes };
}

async function* streamOf(bytes: Uint8Array) {
  yield bytes;
}
