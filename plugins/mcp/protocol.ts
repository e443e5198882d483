import type { McpHttpHandler, McpRequestContext } from '@modelcontextprotocol/server';
import type { Log, Progress } from '../../core/contract/index.js';
import { BATCH_REVISION, KEEP_ALIVE_MS } from './batch.js';
import { findMember } from './exact-json.js';
import type { Exchange } from './exchange.js';
import { writeInstructions } from './instructions.js';
import { listToolPage } from './list-tools.js';
import { callMetaTool, isMetaName, MAX_LISTED_TOOLS, META_TOOLS } from './meta-tools.js';
import { askFor, findNearestNames } from './nearest-names.js';
import { MAX_SUBSCRIPTIONS } from './subscriptions.js';
import { createTextBlock, type ToolResult } from './tool-error.js';
import { withStructure } from './tool-result.js';
import { HostRejection, type Tools } from './tools.js';

/** Newest first. */
const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', BATCH_REVISION];
/** Longer than the name of any tool. */
const MAX_SHOWN_NAME = 64;

/** The methods whose results have instructions. */
const CONNECTING: ReadonlySet<unknown> = new Set(['initialize', 'server/discover']);

/** Creates the protocol handler. The library is loaded only if the surface is enabled. */
export async function createProtocol(
  { name, version }: { readonly name: string; readonly version: string },
  tools: Tools,
  log: Log,
): Promise<McpHttpHandler> {
  const { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } = await import(
    '@modelcontextprotocol/server'
  );
  const createServer = async ({ authInfo, era }: McpRequestContext) => {
    const exchange = authInfo?.extra?.['exchange'] as Exchange;
    const method = findMember(exchange.message, 'method');
    const isConnecting = method?.kind === 'string' && CONNECTING.has(method.value);
    const server = new Server(
      { name, version },
      {
        capabilities: { tools: era === 'modern' ? { listChanged: true } : {} },
        supportedProtocolVersions: REVISIONS,
        ...(isConnecting && { instructions: await writeInstructions(exchange, tools) }),
      },
    );
    const translate = (error: unknown): never => {
      if (!(error instanceof HostRejection)) throw error;
      throw new ProtocolError(ProtocolErrorCode.InternalError, error.message);
    };
    server.setRequestHandler('tools/list', async ({ params }) => {
      const entries = await tools.listCallable(exchange).catch(translate);
      const isShort = exchange.module !== null || entries.length <= MAX_LISTED_TOOLS;
      if (!isShort) return { tools: Object.values(META_TOOLS) };
      const page = await listToolPage(entries, params?.cursor);
      if (page !== null) {
        const { isStructured } = exchange;
        const listed = page.tools.map(({ outputSchema, ...tool }) =>
          isStructured && outputSchema !== undefined ? { ...tool, outputSchema } : tool,
        );
        return { ...page, tools: listed };
      }
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'Unknown cursor: list from the start',
      );
    });
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }): Promise<ToolResult> => {
      const callArguments = findMember(findMember(exchange.message, 'params'), 'arguments');
      if (exchange.module === null && isMetaName(params.name)) {
        const result = callMetaTool(params.name, callArguments, exchange, tools).catch(translate);
        return fitResult(await result, exchange);
      }
      const entry = await tools.find(params.name, exchange);
      if (entry !== null) {
        const progressToken = params._meta?.progressToken;
        const onProgress = (progress: Progress) => {
          const params = { ...progress, progressToken };
          // The client may have gone.
          mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
        };
        const asked = progressToken === undefined ? exchange : { ...exchange, onProgress };
        const result = await tools.call(entry, callArguments, asked);
        return fitResult(result, exchange);
      }
      const name = params.name.slice(0, MAX_SHOWN_NAME);
      const callable = await tools.listCallable(exchange).catch(translate);
      const near = askFor(
        findNearestNames(
          name,
          callable.map((one) => one.name),
        ),
      );
      const message = `Unknown tool: ${name}: ${near ?? 'tools/list has those that you may call'}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    });
    return server;
  };
  return createMcpHandler(createServer, {
    keepAliveMs: KEEP_ALIVE_MS,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: (error) => log.debug({ err: error }, 'protocol error'),
  });
}

/** Changes a result for clients of the first revision, which reject links to resources and ignore structure. */
function fitResult(result: ToolResult, { isStructured }: Exchange): ToolResult {
  if (isStructured) return result;
  const { structuredContent, ...rest } = result;
  const content = rest.content.map((block) =>
    block.type === 'resource_link' ? createTextBlock(JSON.stringify(block)) : block,
  );
  if (structuredContent === undefined) return { ...rest, content };
  return { ...rest, content: withStructure(content, JSON.stringify(structuredContent)) };
}
