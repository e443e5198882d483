import type { ProbationFigures } from '../modules/probation.js';

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
