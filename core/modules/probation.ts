import type { Probation } from '../descriptor/descriptor.js';
import type { ProviderClient } from '../provider/provider-client.js';

/** How a version did on probation. */
export interface ProbationFigures {
  readonly calls: number;
  readonly failed: number;
}

export interface ProbationWatch {
  /** What other workers count; `null` where there are none. */
  readonly share: ProbationShare | null;
  /** The time is over and the version may stay. */
  onPassed(): void;
  /** Its error rate is worse than allowed; called as soon as enough calls have shown it. */
  onFailed(figures: ProbationFigures): void;
}

/**
 * Watches the calls of a version that has just begun to serve. Exactly one verdict is given, unless the
 * function that is returned ends the watch before.
 */
export function watchProbation(
  guard: ProviderClient,
  probation: Probation,
  { share, onPassed, onFailed }: ProbationWatch,
): () => void {
  const end = () => {
    clearTimeout(timer);
    guard.onCallEnd = null;
    share?.leave();
  };
  const timer = setTimeout(() => {
    end();
    onPassed();
  }, probation.seconds * 1000);
  const judge = () => {
    const counts = guard.counts();
    const calls = counts.ended + (share?.others.calls ?? 0);
    const failed = counts.failed + (share?.others.failed ?? 0);
    if (calls < probation.minCalls || failed <= calls * probation.maxErrorRate) return;
    end();
    onFailed({ calls, failed });
  };
  guard.onCallEnd = () => {
    const { ended, failed } = guard.counts();
    share?.report({ calls: ended, failed });
    judge();
  };
  if (share !== null) share.onReport = judge;
  return end;
}

/** A version that was rolled back. */
export interface RejectedVersion {
  readonly file: string;
  /** The input digest of the version. */
  readonly digest: string;
  /** Why, in words for ops. */
  readonly reason: string;
}

/** What one worker's judge of a version on probation has of the others. */
export interface ProbationShare {
  /** Tells the others what was counted here, so far and all in all. */
  report(figures: ProbationFigures): void;
  /** What the others have counted, all together. */
  readonly others: ProbationFigures;
  /** Called when `others` has changed. */
  onReport: (() => void) | null;
  leave(): void;
}

/** With several workers each sees a part of the calls, and all must come to one verdict. */
export interface SharedProbation {
  /** @param digest the input digest of the version */
  join(digest: string): ProbationShare;
  /** Called after this worker has rolled back: the others are to do the same. */
  reject(rejected: RejectedVersion): void;
  onRejected(listener: (rejected: RejectedVersion) => void): void;
}
