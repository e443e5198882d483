import { findErrorOwner } from '../isolation/error-owner.js';
import type { Logger } from '../log/logger.js';
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
 * An error that nobody caught goes to whose code left it: a module, a plugin. One of the host's own is
 * logged, and ends it with 1: what it left behind is unknown. Waits for the log, as that line says why the
 * host is gone.
 */
export function exitOnUncaughtError(log: Logger, exit: CommandContext['exit']): void {
  let isEnding = false;
  const end = async (error: unknown, message: string) => {
    if (isEnding) return;
    isEnding = true;
    log.fatal({ err: error }, message);
    await log.close();
    exit(EXIT.failure);
  };
  const judge = (error: unknown, message: string) => {
    const owner = findErrorOwner();
    if (owner === null) void end(error, message);
    else owner.report(error);
  };
  process.on('uncaughtException', (error) => judge(error, 'an error was not caught'));
  process.on('unhandledRejection', (error) => judge(error, 'a rejection was not handled'));
  runMicrotasksOwned();
  createExitError();
}

/** Node.js 20 has forgotten whose a microtask was by the time that it has thrown. */
function runMicrotasksOwned(): void {
  const { queueMicrotask } = globalThis;
  globalThis.queueMicrotask = (callback) => {
    const owner = typeof callback === 'function' ? findErrorOwner() : null;
    if (owner === null) return queueMicrotask(callback);
    queueMicrotask(() => {
      try {
        callback();
      } catch (error) {
        owner.report(error);
      }
    });
  };
}

/** The host alone ends the process. For anybody else's code it is an error to try. */
function createExitError(): void {
  const { exit } = process;
  process.exit = (code) => {
    const owner = findErrorOwner();
    if (owner === null) return exit.call(process, code);
    const error = new Error('process.exit belongs to the host');
    owner.report(error);
    throw error;
  };
}

/** By default a SIGHUP ends a process; here it asks for a reload. */
export function handleHangUp(reload: () => void): void {
  process.on('SIGHUP', reload);
}
