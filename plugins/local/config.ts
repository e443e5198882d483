import { define, enums, type Infer, object, refine } from 'superstruct';
import { described, optionally, when } from '../../core/contract/described.js';
import { fileReference } from '../../core/contract/index.js';
import { environmentConfig } from '../shared/environment-config.js';

/** MiB. A limit; no memory is reserved. */
export const DEFAULT_MEMORY_MB = 256;
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

export type LocalConfig = Infer<typeof localConfig>;
