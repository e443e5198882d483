import type { Scope } from '../../contract/index.js';

/** A scope that the test closes. */
export interface FakeScope extends Scope {
  /** The number of functions that run at the close. */
  readonly deferred: number;
  /**
   * Aborts `signal`, then runs the deferred functions in sequence, last in, first out. Does nothing when
   * called again.
   * @throws AggregateError with their errors when all have run. A host only logs these.
   */
  close(): Promise<void>;
}

/** Creates a scope like the host's, but errors reject the close, and a function that hangs blocks it. */
export function createFakeScope(): FakeScope {
  const controller = new AbortController();
  const undos: (() => void | Promise<void>)[] = [];
  let isClosed = false;
  return {
    signal: controller.signal,
    get deferred() {
      return undos.length;
    },
    defer: (undo) => {
      if (!isClosed) undos.push(undo);
      // A host only logs its error.
      else void (async () => undo())().catch(() => {});
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      controller.abort();
      const errors: unknown[] = [];
      for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) {
        try {
          await undo();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0)
        throw new AggregateError(errors, 'a deferred function of the scope threw');
    },
  };
}
