/** Who is told of an abort; an object, so that one that has a call to end needs no closure for it. */
export interface AbortListener {
  handleEvent(): void;
}

/**
 * The part of an AbortSignal that is needed to heed it: every AbortSignal is one. The host's own are not
 * AbortSignals, since making one for each call costs more than the rest of its deadline.
 */
export interface Cancellation {
  readonly aborted: boolean;
  /** Why; a ProviderFailure where the host aborted a call. `undefined` until then. */
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: AbortListener): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}
