/**
 * The parts of a body as they arrive. Reading stops with `return`, as `for await` does. A reader
 * either iterates or calls `pushTo`, and does so once.
 */
export interface BodyStream extends AsyncIterable<Uint8Array> {
  /**
   * Passes the parts to a sink instead of being iterated, which costs no promise for each part. The
   * host prefers it where it exists. Nothing is passed before the first `BodyFlow.resume`. Default:
   * absent, and the body is iterated.
   */
  pushTo?(sink: BodySink): BodyFlow;
}

/** Receives a body that is pushed. Its methods do not throw. */
export interface BodySink {
  /**
   * Receives the next part, whose bytes must not be changed before `BodyFlow.reuse`.
   * @returns whether more may follow; after `false` nothing does until `BodyFlow.resume`, which is
   * called later, and never within this method. The host fails a response that ignores it as `protocol`
   */
  write(part: Uint8Array): boolean;
  /** Called once, after the last part of a complete body, where a part could follow. */
  end(): void;
  /**
   * Called once instead of `end`, if the body does not arrive whole, with the error that the
   * iteration would throw. It may be called before `resume`.
   */
  fail(error: unknown): void;
}

/** The other end of a body that is pushed. */
export interface BodyFlow {
  /** Starts the body, and continues it after a part that the sink did not want more after. */
  resume(): void;
  /**
   * Called with a received part once its receiver does not read it any more: its memory may hold a
   * later part. It may not be called, and comes in any order. Default: absent.
   */
  reuse?(part: Uint8Array): void;
  /** Called when no further part is wanted. The source releases its connection, and calls the sink no more. */
  stop(): void;
}
