import type { Probation } from '../descriptor/descriptor.js';
import type { ProviderClient } from '../provider/provider-client.js';
import type { ServingVersion } from './module-version.js';

/** Calls of a version on probation. */
export interface ProbationFigures {
  readonly calls: number;
  readonly failed: number;
}

/** A version that was rolled back. */
export interface RejectedVersion {
  readonly file: string;
  /** The input digest of the version. */
  readonly digest: string;
  /** For operators. */
  readonly reason: string;
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

/** Each worker sees only a part of the calls, but all workers must reach the same result. */
export interface SharedProbation {
  /** @param digest the input digest of the version */
  join(digest: string): ProbationShare;
  /** Called after this worker has rolled back, so that the others follow. */
  reject(rejected: RejectedVersion): void;
  onRejected(listener: (rejected: RejectedVersion) => void): void;
}

interface ProbationResult {
  /** The probation time is over. */
  onPassed(): void;
  /** Called as soon as enough calls show that the error rate is above the limit. */
  onFailed(reason: string): void;
}

/** A new version on probation. The previous version stays open until the end. */
export class ProbationPeriod {
  readonly #shared: SharedProbation | null;
  #current: { readonly before: ServingVersion; readonly stop: () => void } | null = null;

  constructor(shared: SharedProbation | null) {
    this.#shared = shared;
  }

  get isActive(): boolean {
    return this.#current !== null;
  }

  /** Reports exactly one of the results, unless the probation ends before. */
  start(
    { version }: ServingVersion,
    before: ServingVersion,
    rules: Probation,
    result: ProbationResult,
  ): void {
    const share = this.#shared?.join(version.prepared.inputDigest) ?? null;
    this.#current = { before, stop: watchCalls(version.client, rules, share, result) };
  }

  /** @returns the previous version, still open; `null` when no version is on probation */
  end(): ServingVersion | null {
    const current = this.#current;
    this.#current = null;
    current?.stop();
    return current?.before ?? null;
  }
}

function watchCalls(
  client: ProviderClient,
  rules: Probation,
  share: ProbationShare | null,
  { onPassed, onFailed }: ProbationResult,
): () => void {
  const stop = () => {
    clearTimeout(timer);
    client.onCallEnd = null;
    share?.leave();
  };
  const timer = setTimeout(() => {
    stop();
    onPassed();
  }, rules.seconds * 1000);
  const check = () => {
    const counts = client.counts();
    const calls = counts.ended + (share?.others.calls ?? 0);
    const failed = counts.failed + (share?.others.failed ?? 0);
    if (calls < rules.minCalls || failed <= calls * rules.maxErrorRate) return;
    stop();
    onFailed(describeFailedProbation({ calls, failed }, rules));
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
  { maxErrorRate }: Probation,
): string {
  return `${failed} of ${calls} calls failed on probation, more than the share of ${maxErrorRate}`;
}
