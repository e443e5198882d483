import type { Log, Scope } from '../contract/index.js';
import { AbortSource } from '../lib/abort-source.js';
import { withTimeout } from '../lib/with-timeout.js';
import { type ErrorOwner, runOwned } from './error-owner.js';

// An undo that hangs must not hold up the others, nor the host's exit.
const UNDO_TIMEOUT_MS = 2000;

export interface ModuleScope extends Scope {
  /** Runs every registered undo once, last in, first out; never throws. Later calls await the first. */
  close(): Promise<void>;
}

/** @param owner who answers for what is run when it closes; `null`: nobody but the host */
export function createModuleScope(log: Log, owner: ErrorOwner | null = null): ModuleScope {
  // Most adapters never ask for the signal.
  const source = new AbortSource();
  const undos: (() => void | Promise<void>)[] = [];
  let closed: Promise<void> | null = null;

  const run = async (undo: () => void | Promise<void>) => {
    try {
      await withTimeout(runOwned(owner, undo), UNDO_TIMEOUT_MS);
    } catch (error) {
      log.warn({ err: error }, 'an undo of the module failed');
    }
  };
  const closeAll = async () => {
    runOwned(owner, () => source.abort());
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) await run(undo);
  };
  return {
    get signal() {
      return source.signal;
    },
    defer: (undo) => {
      if (closed === null) undos.push(undo);
      // Nobody is left to await it; `run` has caught everything.
      else void run(undo);
    },
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}
