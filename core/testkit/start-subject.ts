import { AssertionError } from 'node:assert';
import type { Struct } from 'superstruct';
import { SkippedClause, type SkippedStart } from './skipped.js';
import { Wait } from './wait.js';

const DEFAULT_TIMEOUT_MS = 30_000;

/** Creates the waits of a subject. */
export function createWait({
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: {
  readonly timeoutMs?: number;
}): Wait {
  return new Wait(timeoutMs);
}

/**
 * Runs `start` of a subject. What starts too late is stopped.
 * @throws SkippedClause when the subject cannot run here.
 */
export async function startSubject<T extends Stoppable>(
  wait: Wait,
  start: () => Promise<T | SkippedStart>,
): Promise<T> {
  const starting = (async () => start())();
  let isLate = false;
  const stopLate = async (late: T | SkippedStart) => {
    if (isLate && 'stop' in late) await late.stop?.();
  };
  starting.then(stopLate).catch(() => {});
  try {
    const started = await wait.settles('start of the subject', starting);
    if ('skip' in started) throw new SkippedClause(started.skip);
    return started;
  } catch (error) {
    isLate = true;
    throw error;
  }
}

interface Stoppable {
  stop?(): Promise<void>;
}

interface Openable<Config, Context, Opened> {
  readonly config: Struct<Config, unknown>;
  open(config: Config, context: Context): Opened | Promise<Opened>;
}

interface Closable {
  readonly scope: { close(): Promise<void> };
}

/**
 * Validates the config and opens the plugin, like a host. The scope closes if that fails. A host waits
 * 30 s for `open`.
 * @throws AssertionError for an invalid config, and when `open` takes longer.
 */
export async function openLikeHost<Config, Context, Opened>(
  plugin: Openable<Config, Context, Opened>,
  value: unknown,
  context: Context & Closable,
  wait: Wait,
): Promise<Opened> {
  const [error, config] = plugin.config.validate(value, { coerce: true });
  if (error) {
    throw new AssertionError({ message: `config of the subject must be valid: ${error.message}` });
  }
  try {
    return await wait.settles('open', (async () => plugin.open(config, context))());
  } catch (error) {
    await context.scope.close().catch(() => {});
    throw error;
  }
}
