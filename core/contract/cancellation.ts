/** Who is told of an abort; an object, so that one that has a call to end needs no closure for it. */
export interface AbortListener {
  /** Called once, when it is aborted; `reason` says why by then. */
  handleEvent(): void;
}

/**
 * The part of an AbortSignal that is needed to heed it: every AbortSignal is one. The host's own are not
 * AbortSignals, since making one for each call costs more than the rest of its deadline.
 */
export interface Cancellation {
  /** Whether it was aborted; never false again. */
  readonly aborted: boolean;
  /** Why; a ProviderFailure where the host aborted a call. `undefined` until then. */
  readonly reason: unknown;
  /**
   * Not told of an abort that was before: look at `aborted` first. What throws keeps nobody else from
   * being told.
   */
  addEventListener(type: 'abort', listener: AbortListener): void;
  /** To be called when the work has ended, so that nobody is kept for a call that is over. */
  removeEventListener(type: 'abort', listener: AbortListener): void;
}
