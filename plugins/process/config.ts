import { array, define, type Infer, object, optional, refine, size } from 'superstruct';
import { fileReference } from '../../core/contract/index.js';
import { health, integerBetween, requestPath } from '../http/config.js';
import { environmentConfig } from '../shared/environment-config.js';

/** `start_timeout_ms`: from the start of the command to its first accepted connection. */
export const DEFAULT_START_TIMEOUT_MS = 10_000;

const MAX_ARGUMENTS = 256;
const MAX_WATCHED_FILES = 64;

const argument = define<string>(
  'text without a zero byte',
  (value) => typeof value === 'string' && !value.includes('\0'),
);

const folder = define<string>(
  'path of a folder',
  (value) => typeof value === 'string' && /^[^\0\n]+$/.test(value),
);

/** `provider.config` of kind `process`. */
export const processConfig = object({
  command: refine(
    size(array(argument), 1, MAX_ARGUMENTS),
    'list of a program and its arguments',
    ([program]) => program !== '',
  ),
  cwd: optional(folder),
  env: optional(environmentConfig),
  watch: optional(size(array(fileReference()), 0, MAX_WATCHED_FILES)),
  start_timeout_ms: optional(integerBetween(100, 300_000)),
  manifest_path: optional(requestPath),
  health: optional(health),
});

export type ProcessConfig = Infer<typeof processConfig>;
