import { array, define, type Infer, object, refine, size } from 'superstruct';
import { described, optionally } from '../../core/contract/described.js';
import { fileReference } from '../../core/contract/index.js';
import { manifestPath } from '../http/config.js';
import { environmentConfig } from '../shared/environment-config.js';
import { health } from '../shared/health-config.js';
import { integerBetween } from '../shared/integer-between.js';

/** The time from the start of the command to its first accepted connection. */
export const DEFAULT_START_TIMEOUT_MS = 10_000;

const MAX_ARGUMENTS = 256;
const MAX_WATCHED_FILES = 64;

const argument = described(
  define<string>(
    'text without a zero byte',
    (value) => typeof value === 'string' && !value.includes('\0'),
  ),
  { type: 'string', pattern: '^[^\\u0000]*$' },
);

const folder = described(
  define<string>(
    'path of a folder',
    (value) => typeof value === 'string' && /^[^\0\n]+$/.test(value),
  ),
  { type: 'string', pattern: '^[^\\u0000\\n]+$' },
);

/** `provider.config` of kind `process`. */
export const processConfig = object({
  command: described(
    refine(
      size(array(argument), 1, MAX_ARGUMENTS),
      'list of a program and its arguments',
      ([program]) => program !== '',
    ),
    {
      minItems: 1,
      maxItems: MAX_ARGUMENTS,
      description: 'A program and its arguments; there is no shell.',
    },
  ),
  cwd: optionally(folder, {
    description: "Working directory, relative to the descriptor. Default: the descriptor's folder.",
  }),
  env: optionally(environmentConfig, {}),
  watch: optionally(size(array(fileReference()), 0, MAX_WATCHED_FILES), {
    maxItems: MAX_WATCHED_FILES,
    description: 'Files whose change restarts the command.',
  }),
  start_timeout_ms: optionally(integerBetween(100, 300_000), {
    default: DEFAULT_START_TIMEOUT_MS,
    description: 'From the start to the first accepted connection. Milliseconds.',
  }),
  manifest_path: manifestPath,
  health: optionally(health, {}),
});

export type ProcessConfig = Infer<typeof processConfig>;
