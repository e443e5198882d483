/**
 * Closes the resources of an opened provider. The host closes it exactly once: after the last call of that
 * provider has ended, or at once if `open` fails.
 */
export interface Scope {
  /** Aborted when the scope starts to close, before any deferred function runs; use it for long work. */
  readonly signal: AbortSignal;
  /**
   * Registers a function that runs at the close: last in, first out, each awaited for at most 2 s. One that
   * throws or hangs is logged, and the others still run. After the close it runs at once.
   */
  defer(undo: () => void | Promise<void>): void;
}
