import { ConfigError } from '../errors.js';
import { type Logger, openLog } from '../log/logger.js';
import type { ServeSettings, WorkerStart } from './messages.js';
import { PrimaryChannel } from './primary-channel.js';
import { createWorkerProcess } from './worker-process.js';

/** Terminals and service managers signal the whole group. Only the primary acts on these signals. */
const IGNORED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;

interface WorkerProcess {
  /** Sets up the process before any module runs. */
  prepare(settings: ServeSettings, log: Logger): void;
}

/** Serves as one worker of several until the primary drains it. @returns whether it succeeded. */
export async function runWorker({ prepare }: WorkerProcess): Promise<boolean> {
  for (const signal of IGNORED_SIGNALS) process.on(signal, () => {});
  const channel = new PrimaryChannel();
  channel.send({ type: 'hello' });
  const { start } = await channel.once('start');
  channel.phase = start.phase;
  const { settings, worker } = start;
  const requestLog = await openLog(settings.config.logLevel, { isShared: true });
  const log = requestLog.child({ worker });
  channel.onFailure = (err, subject) => log.error({ err, subject }, 'worker response failed');
  prepare(settings, log);
  try {
    await serve(channel, start, log, requestLog);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) {
      await channel.sendLast({ type: 'misconfigured', message: error.message });
    } else {
      log.fatal({ err: error }, 'worker failed');
    }
    return false;
  } finally {
    await log.close();
  }
}

async function serve(
  channel: PrimaryChannel,
  start: WorkerStart,
  log: Logger,
  requestLog: Logger,
): Promise<void> {
  const { config } = start.settings;
  const { composeHost } = await import('../compose.js');
  const processes = createWorkerProcess(channel, start, requestLog, { config, log });
  const host = await composeHost(config, log, processes);
  channel.on('rescan', () => host.reload());
  const drained = channel.once('drain');
  const allowed = channel.once('serve');
  channel.send({ type: 'ready' });
  const { url } = await allowed;
  channel.onConnection = host.join(url);
  channel.send({ type: 'serving', url, surfaces: host.surfaces });
  const { isReplaced } = await drained;
  await (isReplaced ? host.handOver() : host.drain());
  await host.close();
}
