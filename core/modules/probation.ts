import type { Probation } from '../descriptor/descriptor.js';
import type { ProviderClient } from '../provider/provider-client.js';

/** The calls of a version on probation. */
export interface ProbationFigures {
  readonly calls: number;
  readonly failed: number;
}

/** A version that was rolled back. */
export interface RejectedVersion {
  readonly file: string;
  /** The input digest of the version. */
  readonly digest: string;
  /** The reason, for operators. */
  readonly reason: string;
}

/** Versions that one process has rolled back, for the others to follow. */
export interface Rejections {
  announce(rejected: RejectedVersion): void;
  onAnnounced(listener: (rejected: RejectedVersion) => void): void;
}

/** One worker's connection to the figures of the other workers. */
export interface ProbationShare {
  /** Reports the totals of this worker. */
  report(figures: ProbationFigures): void;
  /** The totals of all other workers. */
  readonly others: ProbationFigures;
  /** Called when `others` has changed. */
  onReport: (() => void) | null;
  leave(): void;
}

/**
 * Watches the calls of a new version on probation, while the previous version stays open.
 * @param onEnd called once: with the reason as soon as enough calls show that the error rate is
 * above the limit; with `null` when the time is over
 * @returns a function that stops watching
 */
export function watchProbation(
  client: ProviderClient,
  rules: Probation,
  share: ProbationShare | null,
  onEnd: (failure: string | null) => void,
): () => void {
  const stop = () => {
    clearTimeout(timer);
    client.onCallEnd = null;
    share?.leave();
  };
  const end = (failure: string | null) => {
    stop();
    onEnd(failure);
  };
  const timer = setTimeout(() => end(null), rules.seconds * 1000);
  const check = () => {
    const counts = client.counts();
    const calls = counts.ended + (share?.others.calls ?? 0);
    const failed = counts.failed + (share?.others.failed ?? 0);
    if (calls < rules.min_calls || failed <= calls * rules.max_error_rate) return;
    end(describeFailedProbation({ calls, failed }, rules));
  };
  client.onCallEnd = () => {
    const { ended, failed } = client.counts();
    share?.report({ calls: ended, failed });
    check();
  };
  if (share !== null) share.onReport = check;
  return stop;
}

function describeFailedProbation(
  { calls, failed }: ProbationFigures,
  { max_error_rate }: Probation,
): string {
  return `${failed} of ${calls} calls failed on probation, more than the share of ${max_error_rate}`;
}
