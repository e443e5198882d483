/**
 * The one teardown of an opened provider. The host closes it exactly once: after the last call on
 * that provider has ended, or at once when `open` fails half-way.
 */
export interface Scope {
  /** Aborted when the scope starts to close, before anything is undone; long work hangs on it. */
  readonly signal: AbortSignal;
  /**
   * Registers work to undo. Runs last in, first out, each awaited for at most 2 s; one that throws or hangs
   * does not keep the others from running, and is logged. Registered after the close it runs at once.
   *
   */
  defer(undo: () => void | Promise<void>): void;
}
