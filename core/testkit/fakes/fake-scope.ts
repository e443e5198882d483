import type { Scope } from '../../contract/index.js';

/** A scope that the test closes. */
export interface FakeScope extends Scope {
  /** How many undos wait for the close. */
  readonly deferred: number;
  /**
   * Aborts `signal`, then runs what was deferred, last in, first out, one after the other. A second call
   * does nothing.
   * @throws AggregateError of what the undos threw, when all have run: a host only logs that.
   */
  close(): Promise<void>;
}

/** A scope like the host's, but that an undo that throws is an error, and one that hangs hangs the close. */
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
      if (isClosed) void undo();
      else undos.push(undo);
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
      if (errors.length > 0) throw new AggregateError(errors, 'an undo of the scope threw');
    },
  };
}
