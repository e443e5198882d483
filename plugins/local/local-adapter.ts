import { define, enums, type Infer, object, refine } from 'superstruct';
import {
  type Cancellation,
  defineAdapter,
  described,
  fileReference,
  type OpenContext,
  optionally,
  type Provider,
  when,
} from '../../core/contract/index.js';
import { environmentConfig, readEnvironment } from '../shared/environment-config.js';
import { createAbortFailure } from '../shared/failures.js';
import type { LocalModule } from './handler.js';
import { importModule } from './import-module.js';
import { createLocalRunner } from './local-runner.js';
import { openThreadProvider } from './thread-provider.js';

/** MiB. A limit; no memory is reserved. */
const DEFAULT_MEMORY_MB = 256;
const MIN_MEMORY_MB = 16;
const MAX_MEMORY_MB = 16_384;

const memory = described(
  define<number>(
    `integer between ${MIN_MEMORY_MB} and ${MAX_MEMORY_MB}`,
    (value) =>
      Number.isInteger(value) && Number(value) >= MIN_MEMORY_MB && Number(value) <= MAX_MEMORY_MB,
  ),
  { type: 'integer', minimum: MIN_MEMORY_MB, maximum: MAX_MEMORY_MB },
);

/** `provider.config` of kind `local`. Code is imported from a path, so `file` cannot be a variable. */
export const localConfig = described(
  refine(
    object({
      file: described(
        refine(fileReference(), 'path of an ESM file', (value) => !value.startsWith('env:')),
        {
          type: 'string',
          pattern: '^(?!env:)',
          description:
            'ESM file whose default export answers the calls, relative to the descriptor.',
        },
      ),
      isolation: optionally(enums(['worker', 'none']), {
        default: 'worker',
        description:
          "worker: in a thread of its own; none: in the host's thread, for code as trusted as the host.",
      }),
      memory_mb: optionally(memory, {
        default: DEFAULT_MEMORY_MB,
        description: 'Heap of the thread. MiB.',
      }),
      env: optionally(environmentConfig, {}),
    }),
    'a mapping with memory_mb and env only for isolation worker',
    ({ isolation, memory_mb, env }) =>
      isolation !== 'none' || (memory_mb === undefined && env === undefined),
  ),
  when(
    { required: ['isolation'], properties: { isolation: { const: 'none' } } },
    { properties: { memory_mb: false, env: false } },
  ),
);

type LocalConfig = Infer<typeof localConfig>;

/** Kind `local`: a module in a file next to the descriptor, which runs in the host's process. */
export const localAdapter = defineAdapter({
  kind: 'local',
  config: localConfig,
  supports: { manifest: true, admin: true, configure: true, perProcess: true },
  // Without a slash it would be a program of PATH.
  describeConfig: ({ file }) => {
    const path = file.replace(/^file:/, '');
    return { hostUses: [{ kind: 'command', name: path.includes('/') ? path : `./${path}` }] };
  },
  open: (config: LocalConfig, context) =>
    config.isolation === 'none' ? openInHost(config, context) : openThread(config, context),
});

/** Opens code in the host's own thread: it is as trusted as the host. */
async function openInHost({ file: name }: LocalConfig, context: OpenContext): Promise<Provider> {
  const path = context.path(name);
  const module = await importModule({ name, path, bytes: context.file(name) });
  const { close } = module;
  if (close !== undefined) context.scope.defer(() => close());
  return createLocalProvider(module, context);
}

function openThread(
  { file, memory_mb, env }: LocalConfig,
  context: OpenContext,
): Promise<Provider> {
  const { module, log, stateDir, scope } = context;
  const options = {
    module,
    log,
    memoryMb: memory_mb ?? DEFAULT_MEMORY_MB,
    env: readEnvironment(env, context.secret),
    start: { name: file, path: context.path(file), stateDir },
  };
  return openThreadProvider(options, scope);
}

/** The provider of a module in the host's own thread. */
function createLocalProvider(module: LocalModule, context: OpenContext): Provider {
  const { run, readManifest } = createLocalRunner(module, context);
  return {
    manifest: async () => readManifest(),
    // The module is imported, so there is nothing to check.
    check: async () => {},
    invoke: (invocation) =>
      untilAborted(invocation.cancellation ?? invocation.signal, () => run(invocation)),
  };
}

/**
 * Settles with `run`, or rejects when the signal is aborted first, so that a handler that ignores the signal
 * does not block the call. A later result or rejection of `run` is ignored.
 * @throws ProviderFailure when the signal is aborted first; otherwise the error of `run`.
 */
function untilAborted<T>(signal: Cancellation, run: () => Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(createAbortFailure(signal.reason));
  return new Promise((resolve, reject) => {
    const stop = { handleEvent: () => reject(createAbortFailure(signal.reason)) };
    signal.addEventListener('abort', stop);
    run()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
}
