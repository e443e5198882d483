import { findErrorOwner } from '../isolation/error-owner.js';

/**
 * Replaces two globals of Node.js for the code of modules and plugins, as no public hook does the same.
 * The host's own code gets the original behavior. `test/cli/global-overrides.test.ts` fails when
 * Node.js changes what they depend on.
 */
export function overrideGlobals(): void {
  overrideQueueMicrotask();
  overrideExit();
}

/** Node.js 20 no longer has the async context of a microtask once it has thrown; Node.js 24 does. */
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

/** Only the host may end the process: in other code `process.exit` throws. */
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
