import type { Logger } from '../log.js';
import { type CommandContext, EXIT } from './command-module.js';

export type StopSignal = 'SIGTERM' | 'SIGINT';

const STOP_SIGNALS: readonly StopSignal[] = ['SIGTERM', 'SIGINT'];

/** Resolves at the first SIGTERM or SIGINT; the next one ends the process at once with 1 (contract 9). */
export function waitForStop(exit: CommandContext['exit']): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (signal: StopSignal) => {
      if (isStopping) exit(EXIT.failure);
      isStopping = true;
      resolve(signal);
    };
    for (const signal of STOP_SIGNALS) process.on(signal, stop);
  });
}

/**
 * Logs an error that nobody caught, and ends with 1: what it left behind is unknown. Waits for the log, as
 * that line says why the host is gone.
 */
export function endOnStrayError(log: Logger, exit: CommandContext['exit']): void {
  let isEnding = false;
  const end = async (error: unknown, message: string) => {
    if (isEnding) return;
    isEnding = true;
    log.fatal({ err: error }, message);
    await log.close();
    exit(EXIT.failure);
  };
  process.on('uncaughtException', (error) => void end(error, 'an error was not caught'));
  process.on('unhandledRejection', (error) => void end(error, 'a rejection was not handled'));
}

/** By default a SIGHUP ends a process; here it asks for a reload. */
export function handleHangUp(reload: () => void): void {
  process.on('SIGHUP', reload);
}
