import type { Probation } from './descriptor.js';
import type { Guard } from './guard.js';

/** How a version did on probation. */
export interface ProbationFigures {
  readonly calls: number;
  readonly failed: number;
}

export interface ProbationVerdict {
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
  guard: Guard,
  probation: Probation,
  verdict: ProbationVerdict,
): () => void {
  const end = () => {
    clearTimeout(timer);
    guard.onCallEnd = null;
  };
  const timer = setTimeout(() => {
    end();
    verdict.onPassed();
  }, probation.seconds * 1000);
  guard.onCallEnd = () => {
    const { ended, failed } = guard.counts();
    if (ended < probation.minCalls || failed <= ended * probation.maxErrorRate) return;
    end();
    verdict.onFailed({ calls: ended, failed });
  };
  return end;
}
