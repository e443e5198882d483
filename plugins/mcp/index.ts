import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { object, optional, size, string } from 'superstruct';
import {
  type Actor,
  defineSurface,
  type Plugin,
  type SurfaceCall,
  type SurfaceContext,
  SurfaceError,
} from '../../core/contract/index.js';
import { UTF8 } from '../shared/own-requests.js';
import { createNotFound } from '../shared/surface-errors.js';
import { InexactJson, parseExact } from './exact-json.js';
import { type Exchange, listForwardable } from './exchange.js';
import { createProtocol } from './protocol.js';
import { Tools } from './tools.js';

const PREFIX = '/mcp';
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** Agents call modules as tools, with the Model Context Protocol. */
const mcpSurface = defineSurface({
  name: 'mcp',
  prefix: PREFIX,
  isProtectedResource: true,
  // Sufficient for a message that is rejected with 401.
  maxAnonymousBodyBytes: 65_536,
  config: object({ name: optional(size(string(), 1, 100)) }),
  open: async ({ name = 'modgate' }, context) => {
    const { host, log, scope } = context;
    const tools = new Tools(host, log);
    const handler = await createProtocol({ name, version: host.version }, tools, log);
    scope.defer(() => handler.close());
    followChanges(context, tools, handler);
    return { fetch: (request, call) => serve(request, call, handler) };
  },
});

/** Notifies subscribed clients when a reload has changed the tools. */
function followChanges({ host }: SurfaceContext, tools: Tools, handler: McpHttpHandler): void {
  host.onChange(() => {
    const before = tools.invalidate();
    // The failure is logged; clients are notified of the next change.
    void tools.readCatalog().then(
      ({ version }) => {
        if (before !== null && version !== before) handler.notify.toolsChanged();
      },
      () => {},
    );
  });
}

async function serve(
  request: Request,
  call: SurfaceCall,
  handler: McpHttpHandler,
): Promise<Response> {
  const module = readModule(request);
  const { actor } = call;
  if (actor === null) throw new SurfaceError('unauthorized', 'authentication is required');
  assertOrigin(request, call);
  if (request.method !== 'POST') return handler.fetch(request);
  const text = readText(new Uint8Array(await request.arrayBuffer()));
  const message = text === null ? null : parseMessage(text);
  if (text === null || message === null) return createError(PARSE_ERROR, 'the body is not JSON');
  if (Array.isArray(message)) return createError(INVALID_REQUEST, 'batches are not supported');
  const problem = findProblem(text);
  if (problem !== null) return createError(INVALID_REQUEST, `the message has ${problem}`);
  const headers = listForwardable(request.headers);
  const exchange: Exchange = { actor, call, headers, module, text };
  return handler.fetch(request, { parsedBody: message, authInfo: createAuthInfo(actor, exchange) });
}

/** Returns `null` for `/mcp`. */
function readModule(request: Request): string | null {
  const { pathname } = new URL(request.url);
  if (pathname === PREFIX) return null;
  const rest = pathname.slice(PREFIX.length + 1);
  if (rest === '' || rest.includes('/')) throw createNotFound(PREFIX);
  try {
    return decodeURIComponent(rest);
  } catch {
    throw createNotFound(PREFIX);
  }
}

/**
 * Rejects a page of another site, which could use credentials that a browser adds, or reach a host
 * on loopback.
 */
function assertOrigin(request: Request, { isSameOrigin }: SurfaceCall): void {
  if (request.headers.get('origin') === null || isSameOrigin) return;
  throw new SurfaceError('forbidden', 'a page of another origin made the request', {
    errors: [{ field: 'origin', reason: 'not the origin of the host' }],
    nextActions: ['call without an origin header, or from the origin of the host'],
  });
}

function readText(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

function parseMessage(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Finds parts of a message that parsers could interpret differently. */
function findProblem(text: string): string | null {
  try {
    parseExact(text);
    return null;
  } catch (error) {
    if (error instanceof InexactJson) return error.message;
    throw error;
  }
}

/**
 * The library passes it to the server that it creates for the request; it authenticates nothing.
 */
function createAuthInfo({ id, scopes }: Actor, exchange: Exchange) {
  return { token: '', clientId: id, scopes: [...scopes], extra: { exchange } };
}

function createError(code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status: 400 });
}

export default { surfaces: [mcpSurface] } satisfies Plugin;
