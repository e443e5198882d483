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
import { createMethodError, createNotFound } from '../shared/surface-errors.js';
import { BOTH_TYPES, readAccepted, toJsonResponse } from './accepted-types.js';
import { answerBatch, answerOne, BATCH_REVISION, readBatch } from './batch.js';
import {
  countValues,
  type ExactValue,
  findMember,
  InexactJson,
  parseExact,
  toPlain,
} from './exact-json.js';
import { type Exchange, listForwardable } from './exchange.js';
import { createProtocol } from './protocol.js';
import { Subscriptions } from './subscriptions.js';
import { Tools } from './tools.js';

/** Decodes strictly, and keeps a byte-order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PREFIX = '/mcp';
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const NOT_JSON = 'the body is not JSON';
/** Bounds the CPU time of a message of 1 MiB, which can have half a million values. */
const MAX_VALUES = 20_000;
/** No message needs more for the library, which validates it in several ways. */
const MAX_OTHER_VALUES = 1000;
const NO_ARGUMENTS: ExactValue = parseExact('{}');

/** Agents call modules as tools, with the Model Context Protocol. */
export const mcpSurface = defineSurface({
  name: 'mcp',
  prefix: PREFIX,
  isProtectedResource: true,
  // No message is read without an actor.
  maxAnonymousBodyBytes: 0,
  config: object({ name: optional(size(string(), 1, 100)) }),
  open: async ({ name = 'modgate' }, context) => {
    const { host, log, scope } = context;
    const tools = new Tools(host, log);
    const handler = await createProtocol({ name, version: host.version }, tools, log);
    scope.defer(() => handler.close());
    followChanges(context, tools, handler);
    const subscriptions = new Subscriptions();
    return { admit, fetch: (request, call) => serve(request, call, handler, subscriptions) };
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

function admit(request: Request, call: SurfaceCall): void {
  readModule(request);
  requireActor(call);
  assertOrigin(request, call);
  // Streams of older revisions are not served.
  if (request.method !== 'POST') throw createMethodError('POST');
}

function requireActor({ actor }: SurfaceCall): Actor {
  if (actor !== null) return actor;
  throw new SurfaceError('unauthorized', 'authentication is required', {
    nextActions: [
      'send a token in authorization: Bearer TOKEN',
      'sign in as the metadata says that www-authenticate names, or ask the operators for a token',
    ],
  });
}

async function serve(
  request: Request,
  call: SurfaceCall,
  handler: McpHttpHandler,
  subscriptions: Subscriptions,
): Promise<Response> {
  const module = readModule(request);
  const actor = requireActor(call);
  const text = readText(new Uint8Array(await request.arrayBuffer()));
  const message = text === null ? createError(PARSE_ERROR, NOT_JSON) : parseMessage(text);
  if (message instanceof Response) return message;
  const revision = request.headers.get('mcp-protocol-version') ?? BATCH_REVISION;
  const messages = message.kind === 'array' ? readBatch(message, revision) : [message];
  if (typeof messages === 'string') return createError(INVALID_REQUEST, messages);
  const known = new Map(messages.map((one) => [one, withoutArguments(one)]));
  const values = [...known.values()].reduce((sum, one) => sum + countValues(one), 0);
  if (values > MAX_OTHER_VALUES) {
    return createError(
      INVALID_PARAMS,
      `the message has more than ${MAX_OTHER_VALUES} values beside the arguments of a tool`,
    );
  }
  const headers = listForwardable(request.headers);
  const accepted = readAccepted(request.headers.get('accept'));
  if (accepted.json || accepted.events) request.headers.set('accept', BOTH_TYPES);
  const isStructured = revision !== BATCH_REVISION;
  const isBatch = message.kind === 'array';
  const answer = (one: ExactValue) => {
    const exchange: Exchange = { actor, call, headers, module, message: one, isStructured };
    const parsedBody = toPlain(known.get(one) ?? one);
    const handle = () =>
      handler.fetch(request, { parsedBody, authInfo: createAuthInfo(actor, exchange) });
    return isSubscription(one) && !isBatch ? subscriptions.open(actor, handle) : handle();
  };
  const response = isBatch
    ? await answerBatch(messages, request.signal, answer)
    : await answerOne(answer(message));
  if (isSubscription(message)) return response;
  response.headers.set('modgate-stream', 'call');
  return accepted.json && !accepted.events ? toJsonResponse(response, isBatch) : response;
}

/** Whether its response is a stream without end. */
function isSubscription(message: ExactValue): boolean {
  const method = findMember(message, 'method');
  return method?.kind === 'string' && method.value === 'subscriptions/listen';
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
function assertOrigin(request: Request, { isSameOrigin, isListedOrigin }: SurfaceCall): void {
  if (request.headers.get('origin') === null || isSameOrigin || isListedOrigin) return;
  throw new SurfaceError('forbidden', 'a page of another origin made the request', {
    errors: [{ field: 'origin', reason: 'expected that of the host, or one of the setting cors' }],
    nextActions: ['ask the operators of the host to list the origin of the page in cors'],
  });
}

function readText(bytes: Uint8Array): string | null {
  try {
    return UTF8.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Parses a message once, for the library and for the arguments of tools.
 * @returns an error for a text that parsers could interpret differently, or that has too many values
 */
function parseMessage(text: string): ExactValue | Response {
  try {
    return parseExact(text, MAX_VALUES);
  } catch (error) {
    if (!(error instanceof InexactJson)) throw error;
    const { problem, message } = error;
    if (problem === 'malformed') return createError(PARSE_ERROR, NOT_JSON);
    const code = problem === 'too many' ? INVALID_PARAMS : INVALID_REQUEST;
    return createError(code, `the message has ${message}`);
  }
}

/** The library needs no arguments: they are looked at when the tool is known. */
function withoutArguments(message: ExactValue): ExactValue {
  const params = findMember(message, 'params');
  if (message.kind === 'object' && params?.kind === 'null') {
    // Some clients write it for a method without parameters, which the library rejects.
    const members = new Map(message.members);
    members.delete('params');
    return { ...message, members };
  }
  const hasArguments = findMember(params, 'arguments') !== undefined;
  if (!hasArguments || message.kind !== 'object' || params?.kind !== 'object') return message;
  const members = new Map(params.members).set('arguments', NO_ARGUMENTS);
  return { ...message, members: new Map(message.members).set('params', { ...params, members }) };
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
