import { mkdirSync } from 'node:fs';

// Not the whole contract: what a thread imports delays its start.
import { isProviderFailure, ProviderFailure } from '../../core/contract/failure.js';
import type { Invocation, OpenContext, ProviderOperation } from '../../core/contract/index.js';
import { type LocalOutcome, toOutcome } from './answer.js';
import type { LocalContext, LocalModule, LocalOperation } from './handler.js';

type HandledOperation = Exclude<ProviderOperation, { kind: 'configure' }>;

/** Runs a module where it was imported: in the host's thread, or in one of its own. */
export interface LocalRunner {
  /** @throws ProviderFailure, and nothing else. Does not race the signal, which is read only if the handler does. */
  run(invocation: Invocation): Promise<LocalOutcome>;
  /** @throws ProviderFailure `protocol` where the file exports no manifest that is JSON. */
  readManifest(): unknown;
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

  const answer = async (invocation: Invocation): Promise<LocalOutcome> => {
    const { operation, maxResponseBytes } = invocation;
    if (operation.kind === 'configure') {
      const { revision, values } = operation;
      // A module without `configure` has no use for it: delivered is delivered.
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
        return await answer(invocation);
      } catch (cause) {
        if (isProviderFailure(cause)) throw cause;
        throw new ProviderFailure('protocol', 'the handler threw', { cause });
      }
    },
  };
}

function toLocalOperation(
  operation: HandledOperation,
  headers: Readonly<Record<string, string>>,
): LocalOperation {
  if (operation.kind !== 'http_route') return operation;
  const { kind, method, declaredPath, providerPath, pathParams, target, body: rawBody } = operation;
  const queryAt = target.indexOf('?');
  const query = new URLSearchParams(queryAt === -1 ? '' : target.slice(queryAt + 1));
  const body = rawBody === null ? undefined : parseBody(rawBody);
  return { kind, method, declaredPath, providerPath, pathParams, query, headers, body, rawBody };
}

/** The host has judged it to be JSON in UTF-8 (contract 1.5). */
function parseBody(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
}

/** Through JSON, so that a manifest with a date or a function in it is what any provider would send. */
function readManifest({ manifest }: LocalModule): unknown {
  if (manifest === undefined) {
    throw new ProviderFailure('protocol', "the file exports no 'manifest'");
  }
  try {
    return JSON.parse(JSON.stringify(manifest));
  } catch (cause) {
    throw new ProviderFailure('protocol', "the file's 'manifest' is not JSON", { cause });
  }
}

function createStateDirReader(stateDir: string | undefined): () => string {
  let isMade = false;
  return () => {
    if (stateDir === undefined) throw new Error('this host keeps no state for modules');
    if (!isMade) mkdirSync(stateDir, { recursive: true });
    isMade = true;
    return stateDir;
  };
}
