/** Who is told of an abort; an object, so that one that has a call to end needs no closure for it. */
export interface AbortListener {
  /** Called once, at the abort, and must not throw. */
  handleEvent(): void;
}

/**
 * The part of an AbortSignal that is needed to heed it: every AbortSignal is one. The host's own are not
 * AbortSignals, since making one for each call costs more than the rest of its deadline.
 */
export interface Cancellation {
  /** Never false again once it was true. */
  readonly aborted: boolean;
  /** Why; a ProviderFailure where the host aborted a call. `undefined` until then. */
  readonly reason: unknown;
  /** Not told of an abort that was before: look at `aborted` first. */
  addEventListener(type: 'abort', listener: AbortListener): void;
  /** To be called when the call has ended; does nothing for one that does not listen. */
  removeEventListener(type: 'abort', listener: AbortListener): void;
}
