/** A listener for the abort. It is an object, so that a call needs no closure for it. */
export interface AbortListener {
  /** Called once, at the abort; `reason` is set by then. */
  handleEvent(): void;
}

/**
 * The part of an AbortSignal that a listener needs; every AbortSignal is one. The host does not use
 * AbortSignals for calls, since creating one costs more than the rest of the deadline.
 */
export interface Cancellation {
  /** Whether it was aborted. It never becomes false again. */
  readonly aborted: boolean;
  /** The reason of the abort: a ProviderFailure if the host aborted a call. `undefined` before. */
  readonly reason: unknown;
  /**
   * Adds a listener for a later abort: check `aborted` first. A listener that throws does not affect the
   * others.
   */
  addEventListener(type: 'abort', listener: AbortListener): void;
  /** Call it when the work has ended, so that the listener can be released. */
  removeEventListener(type: 'abort', listener: AbortListener): void;
}
