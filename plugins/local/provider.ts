import { mkdirSync } from 'node:fs';
import {
  type Invocation,
  isProviderFailure,
  type OpenContext,
  type Operation,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import { toOutcome } from './answer.js';
import type { LocalContext, LocalModule, LocalOperation } from './handler.js';
import { untilAborted } from './until-aborted.js';

type HandledOperation = Exclude<Operation, { kind: 'configure' }>;

/** Runs the module where it was imported: in the host's thread, or in one of its own. */
export function createLocalProvider(
  module: LocalModule,
  opened: Pick<OpenContext, 'log' | 'stateDir'>,
): Provider {
  const readStateDir = createStateDirReader(opened.stateDir);

  const createContext = ({ id, context, signal }: Invocation): LocalContext => ({
    module: context.module,
    actor: context.actor,
    requestId: context.requestId,
    correlationId: context.correlationId,
    callId: id,
    signal,
    log: opened.log,
    get stateDir() {
      return readStateDir();
    },
  });

  const run = async (invocation: Invocation): Promise<Outcome> => {
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
    manifest: async () => readManifest(module),
    // Imported: there is nothing left to ask.
    check: async () => {},
    invoke: (invocation) => untilAborted(invocation.signal, () => translateThrow(run, invocation)),
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

async function translateThrow(
  run: (invocation: Invocation) => Promise<Outcome>,
  invocation: Invocation,
): Promise<Outcome> {
  try {
    return await run(invocation);
  } catch (cause) {
    if (isProviderFailure(cause)) throw cause;
    throw new ProviderFailure('protocol', 'the handler threw', { cause });
  }
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
