import type { ComposedHost } from '../compose.js';
import { ConfigError } from '../errors.js';
import { describeListenError } from '../http/server/listen-error.js';
import { type Logger, openLog } from '../log/logger.js';
import { LastGoodStore } from '../modules/last-good.js';
import type { ServeSettings, WorkerStart } from './messages.js';
import { PrimaryChannel } from './primary-channel.js';
import { createWorkerHost } from './worker-host.js';

/** What a terminal or a service manager sends to the whole group: the primary acts on it, for all. */
const SIGNALS_OF_PRIMARY = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;

export interface WorkerLife {
  /** Ends the process at an error that nobody has caught. */
  endOnStrayError(log: Logger): void;
}

/** Serves as one worker of several until the primary says otherwise. @returns whether that went well. */
export async function runWorker({ endOnStrayError }: WorkerLife): Promise<boolean> {
  for (const signal of SIGNALS_OF_PRIMARY) process.on(signal, () => {});
  const link = new PrimaryChannel();
  link.send({ type: 'hello' });
  const { start } = await link.once('start');
  link.phase = start.phase;
  const { settings, worker } = start;
  const requestLog = await openLog(settings.config.logLevel, { isShared: true });
  const log = requestLog.child({ worker });
  endOnStrayError(log);
  try {
    await serve(link, start, log, requestLog);
    return true;
  } catch (error) {
    if (error instanceof ConfigError) {
      await link.sendLast({ type: 'misconfigured', message: error.message });
    } else {
      log.fatal({ err: error }, 'the worker failed');
    }
    return false;
  } finally {
    await log.close();
  }
}

async function serve(
  link: PrimaryChannel,
  start: WorkerStart,
  log: Logger,
  requestLog: Logger,
): Promise<void> {
  const { settings } = start;
  const { composeHost } = await import('../compose.js');
  const lastGood = new LastGoodStore(settings.config.state, log);
  const own = createWorkerHost(link, start, (file) => lastGood.read(file), requestLog);
  const host = await composeHost(settings.config, log, own);
  link.on('rescan', () => host.reload());
  const drained = link.once('drain');
  await listen(link, host, settings);
  const { isReplaced } = await drained;
  await (isReplaced ? host.handOver() : host.drain());
  await link.sendLast({ type: 'farewell', metrics: await own.readMetrics() });
  await host.close();
}

async function listen(
  link: PrimaryChannel,
  host: ComposedHost,
  settings: ServeSettings,
): Promise<void> {
  const ordered = link.once('listen');
  link.send({ type: 'ready' });
  const { port } = await ordered;
  try {
    const { url } = await host.listen(port);
    link.send({ type: 'listening', url, port: Number(new URL(url).port) });
  } catch (error) {
    await host.close();
    throw describeListenError(error, settings);
  }
}
