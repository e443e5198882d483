import { findErrorOwner } from '../isolation/error-owner.js';
import { findShippedOwner } from '../isolation/shipped-code.js';
import type { Logger } from '../log/logger.js';
import { type CommandContext, EXIT } from './command-module.js';

export type StopSignal = 'SIGTERM' | 'SIGINT';

const STOP_SIGNALS: readonly StopSignal[] = ['SIGTERM', 'SIGINT'];

/** Resolves at the first SIGTERM or SIGINT. A second one exits immediately with 1. */
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
 * Reports an uncaught error to the module, plugin or surface whose code threw it. An error of the host's own
 * code exits with 1, as the state of the host is unknown. The log is flushed first: its last line is
 * the only record of the reason.
 */
export function exitOnUncaughtError(log: Logger, exit: CommandContext['exit']): void {
  let isExiting = false;
  const fail = async (error: unknown, message: string) => {
    if (isExiting) return;
    isExiting = true;
    log.fatal({ err: error }, message);
    await log.close();
    exit(EXIT.failure);
  };
  const handle = (error: unknown, message: string) => {
    const owner = findErrorOwner() ?? findShippedOwner(error);
    if (owner === null) void fail(error, message);
    else owner.report(error);
  };
  process.on('uncaughtException', (error) => handle(error, 'uncaught exception'));
  process.on('unhandledRejection', (error) => handle(error, 'unhandled rejection'));
}

/** Reloads on SIGHUP, which would end the process by default. */
export function handleHangUp(reload: () => void): void {
  process.on('SIGHUP', reload);
}

/** A host without workers has none to replace at SIGUSR2, which would end it by default. */
export function ignoreRestart(log: Logger): void {
  process.on('SIGUSR2', () => log.warn({ reason: 'no workers' }, 'restart ignored'));
}

/**
 * Node.js opens the inspector at SIGUSR1, through which every user of the machine can run code in
 * the host. The listener replaces this default.
 */
export function ignoreInspectorSignal(log: Logger): void {
  process.on('SIGUSR1', () => log.warn({ signal: 'SIGUSR1' }, 'inspector is off in production'));
}
