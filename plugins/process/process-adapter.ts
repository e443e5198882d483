import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { defineAdapter, type Invocation, type Provider } from '../../core/contract/index.js';
import { openLocalProvider, SUPPORTS } from '../http/http-adapter.js';
import { OWN_ENDPOINT } from '../shared/balancing.js';
import { createEnvironment, listHostUses } from '../shared/command.js';
import { withDeadline } from '../shared/deadline.js';
import { assertSuccess, isSuccess } from '../shared/own-requests.js';
import { DEFAULT_START_TIMEOUT_MS, type ProcessConfig, processConfig } from './config.js';
import { ProcessSupervisor } from './process-supervisor.js';

/**
 * `open` waits this long for the child, so that a reload switches to one that listens. It must not require a
 * running provider.
 */
const OPEN_TIMEOUT_MS = 3_000;

/** Kind `process`: a command that the host starts and supervises; it serves HTTP over a Unix socket. */
export const processAdapter = defineAdapter({
  kind: 'process',
  config: processConfig,
  supports: { ...SUPPORTS, perProcess: true },
  describeConfig: (config) => ({ hostUses: listHostUses(config) }),
  open: async (config: ProcessConfig, context) => {
    const { socketPath, remove } = await createSocketFolder();
    context.scope.defer(remove);
    let configured: Invocation | null = null;
    const supervisor = new ProcessSupervisor({
      command: config.command,
      cwd: context.path(config.cwd ?? '.'),
      env: { ...createEnvironment(config, context), MODGATE_SOCKET: socketPath },
      log: context.log,
      socketPath,
      startTimeoutMs: config.start_timeout_ms ?? DEFAULT_START_TIMEOUT_MS,
      prepare: async (signal) => {
        if (configured === null) return;
        const { status } = await http.invoke(repeat(configured, signal));
        assertSuccess('the configuration request', status);
      },
    });
    context.scope.defer(() => supervisor.close());
    const { manifest_path, health } = config;
    const http = await openLocalProvider(
      createPlace(config.command, socketPath),
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

/** Copies field by field, because an invocation of the host has computed members. */
function repeat(
  { id, operation, headers, context, maxResponseBytes }: Invocation,
  signal: AbortSignal,
): Invocation {
  return { id, operation, headers, context, maxResponseBytes, signal };
}

interface SuperviseOptions {
  readonly hasHealth: boolean;
  /** Called with a configuration that the child accepted; restarted children must get it too. */
  readonly onConfigured: (invocation: Invocation) => void;
}

/** The HTTP provider, which is called only while the child is up. */
function supervise(
  http: Provider,
  supervisor: ProcessSupervisor,
  { hasHealth, onConfigured }: SuperviseOptions,
): Provider {
  const watched = <T>(call: Promise<T>) =>
    call.catch((error: unknown) => {
      // Not awaited: the call has failed, and the next one waits for the new child.
      void supervisor.requireSocket();
      throw error;
    });
  return {
    endpoints: () => http.endpoints?.() ?? [],
    balancing: () => (hasHealth ? (http.balancing?.() ?? OWN_ENDPOINT) : OWN_ENDPOINT),
    manifest: async (signal) => {
      await supervisor.ready(signal);
      return http.manifest(signal);
    },
    check: async (signal, endpoint) => {
      supervisor.check();
      await watched(http.check(signal, endpoint));
    },
    invoke: async (invocation) => {
      if (!supervisor.isUp) await supervisor.ready(invocation.cancellation ?? invocation.signal);
      const outcome = await watched(http.invoke(invocation));
      if (invocation.operation.kind === 'configure' && isSuccess(outcome.status))
        onConfigured(invocation);
      return outcome;
    },
  };
}

function createPlace(command: readonly string[], path: string) {
  return {
    id: `process:${basename(command[0] ?? '')}`,
    weight: 1,
    origin: 'http://localhost',
    prefix: '',
    address: { kind: 'unix', path },
  } as const;
}

/** Ignores failures: the supervisor handles a child that is slow or exits. */
async function waitForFirst(supervisor: ProcessSupervisor, scope: AbortSignal): Promise<void> {
  await withDeadline(scope, OPEN_TIMEOUT_MS, (signal) => supervisor.ready(signal)).catch(() => {});
}

/** `sun_path` holds 108 bytes with its terminating zero on Linux (unix(7)), 104 on macOS and the BSDs. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103;

/** The suffix is as long as that of `mkdtemp`. */
const RANDOM = 'XXXXXX';
const SOCKET_NAME = 'm.sock';

interface SocketFolder {
  /** Path of the socket, which does not exist yet. */
  readonly socketPath: string;
  remove(): Promise<void>;
}

/**
 * Creates a folder that only this user may enter (mode 0700), in the temporary folder of the system or,
 * if that path is too long for a socket, in /tmp. A new folder avoids conflicts with files and children
 * that a killed host left behind.
 * @throws Error when both paths are too long, and when it cannot be created.
 */
export async function createSocketFolder(bases = [tmpdir(), '/tmp']): Promise<SocketFolder> {
  const prefixes = bases.map((base) => join(base, 'modgate-'));
  const prefix = prefixes.find(
    (folder) => Buffer.byteLength(join(`${folder}${RANDOM}`, SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES,
  );
  if (prefix === undefined) {
    throw new Error(
      `the temporary folder must have a path short enough for a socket (${MAX_SOCKET_PATH_BYTES} bytes in all)`,
    );
  }
  const folder = await mkdtemp(prefix).catch((cause) => {
    const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
    const problem = `the temporary folder of the host cannot be used (${code})`;
    throw new Error(`${problem}: set TMPDIR to a folder that it can write`, { cause });
  });
  return {
    socketPath: join(folder, SOCKET_NAME),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
