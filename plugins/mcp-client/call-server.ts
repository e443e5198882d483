import {
  type HttpRouteOperation,
  type Invocation,
  type Outcome,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/failures.js';
import type { McpOperation } from './config.js';
import { Exchange } from './exchange.js';
import { ServerError } from './session.js';
import type { OpenSession } from './session-slot.js';
import type { SessionSlots } from './session-slots.js';
import { findTool, type PinnedTool, type ToolPins } from './tool-pins.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const PROBLEM_TYPE = { 'content-type': 'application/problem+json' };

/** The code of JSON-RPC for wrong arguments, and for an unknown tool. */
const INVALID_PARAMS = -32_602;

/** @throws ProviderFailure only (as a rejection). */
export async function callServer(
  slots: SessionSlots,
  pins: ToolPins,
  invocation: Invocation,
): Promise<Outcome> {
  const { operation, context } = invocation;
  const tool = operation.kind === 'http_route' ? readTool(operation) : null;
  if (operation.kind !== 'http_route' || tool === null) {
    const message = 'kind mcp carries POST /tools/{name} only';
    throw new ProviderFailure('refused', message, { phase: 'connecting' });
  }
  const input = readArguments(operation.body);
  if (input === null) return createError(400, 'the arguments of a tool must be an object');
  const signal = invocation.cancellation ?? invocation.signal;
  const slot = slots.find(context);
  const attempt = () =>
    slot.use(context, signal, (open) => {
      pins.assertSame(tool, open.tools);
      return callTool(tool.tool, input, invocation, open);
    });
  return (await attempt()) ?? (await attempt()) ?? Promise.reject(createLost());
}

interface Arguments {
  readonly value: Record<string, unknown>;
  readonly json: string;
}

/** @returns `null` when the session was lost, so that nothing was done */
async function callTool(
  name: string,
  input: Arguments,
  invocation: Invocation,
  { session, tools }: OpenSession,
): Promise<Outcome | null> {
  const known = tools.find(name);
  const { headers, context, maxResponseBytes } = invocation;
  const exchange = new Exchange({ argumentsJson: input.json, headers, context, maxResponseBytes });
  const release = followSignal(invocation, exchange);
  try {
    const params = { name, arguments: input.value };
    const result = await session.callTool(params, known?.inputSchema, exchange);
    return { status: 200, headers: JSON_TYPE, body: Buffer.from(result) };
  } catch (error) {
    if (exchange.isSessionLost) return null;
    if (!(error instanceof ServerError)) throw error;
    if (error.code !== INVALID_PARAMS) return createError(500, error.message);
    if (known !== undefined) return createError(400, error.message);
    const message = 'the server has no such tool';
    throw new ProviderFailure('protocol', message, { phase: 'answered', cause: error });
  } finally {
    release();
  }
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

function readTool({ method, providerPath, options }: HttpRouteOperation): PinnedTool | null {
  if (method !== 'POST') return null;
  return findTool(providerPath, options as McpOperation);
}

/** @returns `null` for anything but an object */
function readArguments(body: Uint8Array | null): Arguments | null {
  if (body === null || body.length === 0) return { value: {}, json: '{}' };
  const json = Buffer.from(body).toString();
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return { value: value as Record<string, unknown>, json };
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
