import { define, enums, type Infer, object, optional, refine } from 'superstruct';
import { fileReference } from '../../core/contract/index.js';
import { environmentConfig } from '../shared/environment-config.js';

/** `memory_mb`, in MiB: a bound, nothing is set aside. */
export const DEFAULT_MEMORY_MB = 256;
const MIN_MEMORY_MB = 16;
const MAX_MEMORY_MB = 16_384;

const memory = define<number>(
  `integer between ${MIN_MEMORY_MB} and ${MAX_MEMORY_MB}`,
  (value) =>
    Number.isInteger(value) && Number(value) >= MIN_MEMORY_MB && Number(value) <= MAX_MEMORY_MB,
);

/** `provider.config` of kind `local`: code is imported from its path, so it cannot be a variable. */
export const localConfig = refine(
  object({
    file: refine(fileReference(), 'path of an ESM file', (value) => !value.startsWith('env:')),
    isolation: optional(enums(['worker', 'none'])),
    memory_mb: optional(memory),
    env: optional(environmentConfig),
  }),
  'a mapping with memory_mb and env only for isolation worker',
  ({ isolation, memory_mb, env }) =>
    isolation !== 'none' || (memory_mb === undefined && env === undefined),
);

export type LocalConfig = Infer<typeof localConfig>;
