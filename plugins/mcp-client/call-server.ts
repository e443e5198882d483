import {
  type BodyStream,
  type HttpRouteOperation,
  type Invocation,
  isProviderFailure,
  joinBody,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure, createInvalidRequest, streamOf } from '../shared/transport.js';
import type { McpOperation } from './config.js';
import { describeProblem } from './describe-problem.js';
import { createTooLong, Exchange } from './exchange.js';
import { createReading, readContents } from './resources.js';
import { ServerError } from './session.js';
import type { OpenSession } from './session-slot.js';
import type { SessionSlots } from './session-slots.js';
import { findTool, type ToolPins } from './tool-pins.js';
import { findResultProblem } from './tool-result.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const PROBLEM_TYPE = { 'content-type': 'application/problem+json' };

/** The route for the resources of a server. */
export const RESOURCES = '/resources/{uri}';

/** Codes of JSON-RPC for an unknown resource. */
const NOT_FOUND: ReadonlySet<number> = new Set([-32_002, -32_602]);

/** The code of JSON-RPC for wrong arguments, and for an unknown tool. */
const INVALID_PARAMS = -32_602;

/** What a call does with a session; `null` when the session was lost, so that nothing was done. */
type Attempt = (open: OpenSession) => Promise<Outcome | null>;

/** @throws ProviderFailure only (as a rejection). */
export async function callServer(
  slots: SessionSlots,
  pins: ToolPins,
  invocation: Invocation,
): Promise<Outcome> {
  const { operation, context } = invocation;
  const attempt = operation.kind === 'http_route' ? prepare(operation, invocation, pins) : null;
  if (attempt === null) {
    const message = 'kind mcp carries POST for tools, and GET /resources/{uri}';
    throw new ProviderFailure('refused', message, { phase: 'connecting' });
  }
  const signal = invocation.cancellation ?? invocation.signal;
  const slot = slots.find(context);
  const run = () => slot.use(context, signal, attempt);
  return (await run()) ?? (await run()) ?? Promise.reject(createLost());
}

/**
 * @returns `null` for another route
 * @throws ProviderFailure for arguments that are no object
 */
function prepare(
  operation: HttpRouteOperation,
  invocation: Invocation,
  pins: ToolPins,
): Attempt | null {
  const { method, declaredPath, pathParams, providerPath, options } = operation;
  if (method === 'POST') {
    const tool = findTool(providerPath, options as McpOperation);
    if (tool === null) return null;
    const { body, bodyStream } = operation;
    let input = bodyStream === undefined ? readArguments(body) : null;
    return async (open) => {
      pins.assertSame(tool, open.tools);
      // Not read before there is a session, and once for both attempts.
      if (bodyStream !== undefined) input ??= readArguments(await readBody(bodyStream, invocation));
      return callTool(tool.tool, input ?? '{}', invocation, open);
    };
  }
  const { uri } = pathParams;
  if (declaredPath !== RESOURCES || uri === undefined) return null;
  if (method === 'GET') return (open) => readResource(uri, invocation, open);
  if (method !== 'HEAD') return null;
  return async (open) => {
    const outcome = await readResource(uri, invocation, open);
    return outcome === null ? null : { ...outcome, body: null };
  };
}

async function callTool(
  name: string,
  input: string,
  invocation: Invocation,
  { session, tools }: OpenSession,
): Promise<Outcome | null> {
  const known = tools.find(name);
  const problem = known?.problem ?? null;
  if (problem !== null) throw new ProviderFailure('protocol', problem, { phase: 'preparing' });
  const { headers, context, maxResponseBytes } = invocation;
  const exchange = new Exchange({
    ...{ argumentsJson: input, headers, context, maxResponseBytes },
    countReceived: (bytes) => invocation.countReceived?.(bytes),
    onProgress: (progress) => invocation.reportProgress?.(progress),
    check: findResultProblem,
  });
  return settle(invocation, exchange, {
    run: async () => {
      const result = await session.callTool(name, input, known?.inputSchema, exchange);
      const { secrets } = exchange;
      return { status: 200, headers: JSON_TYPE, body: Buffer.from(result), secrets };
    },
    translate: (error) => {
      if (error.code !== INVALID_PARAMS) return createError(500, error.message);
      if (known !== undefined) return createError(400, error.message);
      const message = 'the server has no such tool';
      throw new ProviderFailure('protocol', message, { phase: 'answered', cause: error });
    },
  });
}

async function readResource(
  uri: string,
  invocation: Invocation,
  { session, resources }: OpenSession,
): Promise<Outcome | null> {
  const exchange = createReading(invocation);
  return settle(invocation, exchange, {
    run: async () => {
      if (!(await resources.has(uri))) return createError(404, 'the server lists no such resource');
      const request = { method: 'resources/read', params: { uri } };
      return readContents(await session.request(request, exchange));
    },
    translate: (error) => createError(NOT_FOUND.has(error.code) ? 404 : 500, error.message),
  });
}

interface Call {
  readonly run: () => Promise<Outcome>;
  /** Of an error with which the server answered. */
  readonly translate: (error: ServerError) => Outcome;
}

async function settle(
  invocation: Invocation,
  exchange: Exchange,
  { run, translate }: Call,
): Promise<Outcome | null> {
  const release = followSignal(invocation, exchange);
  try {
    return limitBody(await run(), invocation);
  } catch (error) {
    if (exchange.isSessionLost) return null;
    if (error instanceof ServerError) return translate(error);
    if (isProviderFailure(error)) throw error;
    const options = { phase: 'answered', cause: error } as const;
    throw new ProviderFailure('protocol', describeProblem(error), options);
  } finally {
    release();
  }
}

/** @throws ProviderFailure for a body that is too long. */
function limitBody(outcome: Outcome, { maxResponseBytes, holdBytes }: Invocation): Outcome {
  const body = joinBody(outcome.body);
  if (body.length > maxResponseBytes) throw createTooLong(maxResponseBytes);
  if (holdBytes === undefined || body.length <= holdBytes) return outcome;
  return { ...outcome, body: streamOf(body) };
}

/** Fails the exchange when the call is aborted. */
function followSignal({ cancellation, signal }: Invocation, exchange: Exchange): () => void {
  const source = cancellation ?? signal;
  const listener = {
    handleEvent: () => {
      const phase = exchange.isSent ? 'responding' : 'connecting';
      exchange.fail(createAbortFailure(source.reason, 0, phase));
    },
  };
  if (source.aborted) listener.handleEvent();
  else source.addEventListener('abort', listener);
  return () => source.removeEventListener('abort', listener);
}

/** A long body arrives while it is checked. */
async function readBody(bodyStream: BodyStream, invocation: Invocation): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of bodyStream) {
    // The host releases it with the call.
    invocation.hold?.(part.length);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * @returns the text of an object
 * @throws ProviderFailure for any other JSON
 */
function readArguments(body: Uint8Array | null): string {
  if (body === null || body.length === 0) return '{}';
  // The host has checked that it is JSON, which may follow a byte-order mark.
  const json = Buffer.from(body)
    .toString()
    .replace(/^\ufeff/, '');
  if (/^[ \t\r\n]*\{/.test(json)) return json;
  throw createInvalidRequest('', 'must be an object');
}

/** An error of the server, as a provider over HTTP would answer it. */
function createError(status: number, detail: string): Outcome {
  const body = Buffer.from(JSON.stringify({ status, detail }));
  return { status, headers: PROBLEM_TYPE, body };
}

function createLost(): ProviderFailure {
  return new ProviderFailure('unavailable', 'the server lost the session twice', {
    phase: 'connecting',
  });
}
