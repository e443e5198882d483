import { mkdirSync } from 'node:fs';

// Imports only a part of the contract, because imports delay the start of a thread.
import { isProviderFailure, ProviderFailure } from '../../core/contract/failure.js';
import type { Invocation, OpenContext, ProviderOperation } from '../../core/contract/index.js';
import type { LocalContext, LocalModule, LocalOperation } from './handler.js';
import { type LocalOutcome, toOutcome } from './outcome.js';
import { describeThrown } from './sent-failure.js';

type HandledOperation = Exclude<ProviderOperation, { kind: 'configure' }>;

/** Runs a module in the thread that imported it. */
interface LocalRunner {
  /** @throws ProviderFailure only. Does not wait for the signal, which is created on access. */
  run(invocation: Invocation): Promise<LocalOutcome>;
  /** @throws ProviderFailure `protocol` unless the file exports a manifest of JSON. */
  readManifest(): Uint8Array;
}

export function createLocalRunner(
  module: LocalModule,
  { log, stateDir }: Pick<OpenContext, 'log' | 'stateDir'>,
): LocalRunner {
  const readStateDir = createStateDirReader(stateDir);

  const createContext = (invocation: Invocation): LocalContext => ({
    module: invocation.context.module,
    actor: invocation.context.actor,
    requestId: invocation.context.requestId,
    correlationId: invocation.context.correlationId,
    callId: invocation.id,
    get signal() {
      return invocation.signal;
    },
    log,
    get stateDir() {
      return readStateDir();
    },
  });

  const respond = async (invocation: Invocation): Promise<LocalOutcome> => {
    const { operation, maxResponseBytes } = invocation;
    if (operation.kind === 'configure') {
      const { revision, values } = operation;
      // Without `configure`, the delivery counts as successful.
      await module.configure?.({ revision, values });
      return { status: 204, headers: {}, body: null };
    }
    const handled = toLocalOperation(operation, invocation.headers);
    return toOutcome(await module.handle(handled, createContext(invocation)), maxResponseBytes);
  };

  return {
    readManifest: () => readManifest(module),
    run: async (invocation) => {
      try {
        return await respond(invocation);
      } catch (cause) {
        if (isProviderFailure(cause)) throw cause;
        throw new ProviderFailure('protocol', 'the handler threw', {
          cause,
          detail: describeThrown(cause),
        });
      }
    },
  };
}

function toLocalOperation(
  operation: HandledOperation,
  headers: Readonly<Record<string, string>>,
): LocalOperation {
  if (operation.kind !== 'http_route') return operation;
  const { kind, declaredPath, providerPath, pathParams, target, body: rawBody } = operation;
  // HEAD is for adapters that stream.
  const method = operation.method === 'HEAD' ? 'GET' : operation.method;
  const queryAt = target.indexOf('?');
  const query = new URLSearchParams(queryAt === -1 ? '' : target.slice(queryAt + 1));
  const body = rawBody === null ? undefined : parseBody(rawBody);
  return { kind, method, declaredPath, providerPath, pathParams, query, headers, body, rawBody };
}

/** The host has checked that it is JSON in UTF-8. */
function parseBody(bytes: Uint8Array): unknown {
  // The decoder ignores a byte-order mark.
  return JSON.parse(new TextDecoder().decode(bytes));
}

function readManifest({ manifest }: LocalModule): Uint8Array {
  if (manifest === undefined) {
    throw new ProviderFailure('protocol', "the file exports no 'manifest'", { phase: 'preparing' });
  }
  try {
    return Buffer.from(JSON.stringify(manifest));
  } catch (cause) {
    const message = "the file's 'manifest' is not JSON";
    throw new ProviderFailure('protocol', message, { cause, phase: 'preparing' });
  }
}

function createStateDirReader(stateDir: string | undefined): () => string {
  let isCreated = false;
  return () => {
    if (stateDir === undefined) throw new Error('this host keeps no state for modules');
    if (!isCreated) mkdirSync(stateDir, { recursive: true });
    isCreated = true;
    return stateDir;
  };
}
