import { basename } from 'node:path';
import {
  type Balancing,
  defineAdapter,
  type Invocation,
  type OpenContext,
  type Outcome,
  type Provider,
} from '../../core/contract/index.js';
import { openProvider, SUPPORTS } from '../http/http-adapter.js';
import { readEnvironment } from '../shared/environment-config.js';
import { DEFAULT_START_TIMEOUT_MS, type ProcessConfig, processConfig } from './config.js';
import { ProcessSupervisor } from './process-supervisor.js';
import { createSocketFolder } from './socket-folder.js';

/**
 * So long `open` waits for a child that starts, so that a reload swaps to one that listens. Below the 5 s
 * that a host gives to `open`, which must not need the provider to be up.
 */
const OPEN_TIMEOUT_MS = 3_000;

/** A check of a child that is known to be down asks nobody: it may come often. */
const BALANCING: Balancing = {
  strategy: 'round_robin',
  hashHeader: null,
  health: { intervalMs: 2_000, timeoutMs: 1_000, failures: 1, successes: 1 },
};

/** Kind `process`: a command that the host starts and supervises, speaking HTTP over a Unix socket. */
export const processAdapter = defineAdapter({
  kind: 'process',
  config: processConfig,
  supports: { ...SUPPORTS, perProcess: true },
  open: async (config: ProcessConfig, context) => {
    const { socketPath, remove } = await createSocketFolder();
    context.scope.defer(remove);
    let configured: Invocation | null = null;
    const supervisor = new ProcessSupervisor({
      command: config.command,
      cwd: context.path(config.cwd ?? '.'),
      env: createEnvironment(config, context, socketPath),
      log: context.log,
      socketPath,
      startTimeoutMs: config.start_timeout_ms ?? DEFAULT_START_TIMEOUT_MS,
      prepare: async (signal) => {
        if (configured !== null) expectSuccess(await http.invoke(repeat(configured, signal)));
      },
    });
    context.scope.defer(() => supervisor.close());
    const { manifest_path, health } = config;
    const http = openProvider(
      [describeReplica(config.command, socketPath)],
      { ...(manifest_path && { manifest_path }), ...(health && { health }) },
      context,
    );
    await supervisor.start();
    await waitForFirst(supervisor, context.scope.signal);
    return supervise(http, supervisor, {
      hasHealth: health !== undefined,
      onConfigured: (invocation) => {
        configured = invocation;
      },
    });
  },
});

/** Field by field: an invocation of the host makes what it has when that is read. */
function repeat(
  { id, operation, headers, context, maxResponseBytes }: Invocation,
  signal: AbortSignal,
): Invocation {
  return { id, operation, headers, context, maxResponseBytes, signal };
}

interface SuperviseOptions {
  readonly hasHealth: boolean;
  /** The child has taken this configuration: the next one is to get it as well. */
  readonly onConfigured: (invocation: Invocation) => void;
}

/** The provider behind HTTP, which is asked only while a child is there to answer. */
function supervise(
  http: Provider,
  supervisor: ProcessSupervisor,
  { hasHealth, onConfigured }: SuperviseOptions,
): Provider {
  return {
    endpoints: () => http.endpoints?.() ?? [],
    balancing: () => (hasHealth ? (http.balancing?.() ?? BALANCING) : BALANCING),
    manifest: async (signal) => {
      await supervisor.ready(signal);
      return http.manifest(signal);
    },
    check: async (signal, endpoint) => {
      supervisor.check();
      return http.check(signal, endpoint);
    },
    invoke: async (invocation) => {
      if (!supervisor.isUp) await supervisor.ready(invocation.cancellation ?? invocation.signal);
      const outcome = await http.invoke(invocation);
      if (invocation.operation.kind === 'configure' && isSuccess(outcome)) onConfigured(invocation);
      return outcome;
    },
  };
}

/** Nothing of the host's environment but `PATH`, by which programs find one another. */
function createEnvironment(
  { env }: ProcessConfig,
  { module, secret }: OpenContext,
  socketPath: string,
): Record<string, string> {
  const { PATH } = process.env;
  return {
    ...(PATH !== undefined && { PATH }),
    ...readEnvironment(env, secret),
    MODGATE_MODULE: module,
    MODGATE_SOCKET: socketPath,
  };
}

function describeReplica(command: readonly string[], path: string) {
  return {
    id: `process:${basename(command[0] ?? '')}`,
    weight: 1,
    origin: 'http://localhost',
    prefix: '',
    address: { kind: 'unix', path },
  } as const;
}

/** Whatever becomes of it: a child that is slow, or that dies, is a matter of its supervisor. */
async function waitForFirst(supervisor: ProcessSupervisor, scope: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([scope, AbortSignal.timeout(OPEN_TIMEOUT_MS)]);
  await supervisor.ready(signal).catch(() => {});
}

function isSuccess({ status }: Outcome): boolean {
  return status >= 200 && status <= 299;
}

function expectSuccess({ status }: Outcome): void {
  if (status < 200 || status > 299) throw new Error(`it answered with ${status}`);
}
