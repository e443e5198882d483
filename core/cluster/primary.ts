import type { Logger } from '../log/logger.js';
import { reportListening } from '../report-listening.js';
import { SHARED_SERVICES } from '../shared-services.js';
import type { ServeSettings } from './messages.js';
import { Supervisor } from './supervisor.js';

interface PrimarySignals {
  /** Resolves with the signal that stops the host. */
  readonly stopped: Promise<string>;
  onHangUp(listener: () => void): void;
}

/**
 * Serves with `count` workers until a stop signal, then drains them.
 * @throws ConfigError for an invalid configuration; StartFailure when no worker starts.
 */
export async function runPrimary(
  settings: ServeSettings,
  count: number,
  log: Logger,
  { stopped, onHangUp }: PrimarySignals,
): Promise<void> {
  const supervisor = new Supervisor({ settings, count, services: SHARED_SERVICES, log });
  // The workers exit with the primary, however it exits.
  process.once('exit', () => supervisor.kill());
  onHangUp(() => supervisor.rescan());
  process.on('SIGUSR2', () => void supervisor.restart());
  const first = await Promise.race([supervisor.start(), stopped.then(() => null)]);
  if (first !== null) {
    reportListening(log, settings.config, { ...first, workers: count });
    log.info({ signal: await stopped }, 'draining');
  }
  await supervisor.drain();
  if (first !== null) log.info({}, 'stopped');
}
