import { array, type Infer, object, size } from 'superstruct';
import { fileReference, optionally } from '../../core/contract/index.js';
import { manifestPath } from '../http/config.js';
import { commandMembers } from '../shared/command.js';
import { health } from '../shared/health-config.js';
import { integerBetween } from '../shared/integer-between.js';

/** The time from the start of the command to its first accepted connection. */
export const DEFAULT_START_TIMEOUT_MS = 10_000;

const MAX_WATCHED_FILES = 64;

/** `provider.config` of kind `process`. */
export const processConfig = object({
  ...commandMembers,
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
