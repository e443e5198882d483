import { findErrorOwner } from '../isolation/error-owner.js';

/**
 * Replaces two globals of Node.js for the code of modules and plugins, because no public hook does
 * the same. Code of the host uses the original functions. `test/cli/global-overrides.test.ts` fails
 * if the internals of Node.js change.
 */
export function overrideGlobals(): void {
  overrideQueueMicrotask();
  overrideExit();
}

/** Node.js 20 loses the async context of a microtask that has thrown; Node.js 24 keeps it. */
function overrideQueueMicrotask(): void {
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

/** Only the host may end the process: `process.exit` throws for other code. */
function overrideExit(): void {
  const { exit } = process;
  process.exit = (code) => {
    const owner = findErrorOwner();
    if (owner === null) return exit.call(process, code);
    const error = new Error('process.exit is reserved for the host');
    owner.report(error);
    throw error;
  };
}
