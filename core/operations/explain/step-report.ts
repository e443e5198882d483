import { HostError } from '../../errors.js';
import type { StepReport } from '../step.js';

/** Texts for operators, which may name files and modules that a Problem must not name. */
interface FailureWords {
  readonly detail: string;
  readonly next_actions: readonly string[];
}

export function pass(detail: string): StepReport {
  return { outcome: 'pass', status: null, detail, next_actions: [] };
}

export function unknown(detail: string): StepReport {
  return { outcome: 'unknown', status: null, detail, next_actions: [] };
}

export function fail(status: number, { detail, next_actions }: FailureWords): StepReport {
  return { outcome: 'fail', status, detail, next_actions };
}

/**
 * Runs the rule of a step.
 * @param describeFailure default: the text of the error
 */
export function decide(
  rule: () => unknown,
  passed: string,
  describeFailure?: () => FailureWords,
): StepReport {
  try {
    rule();
    return pass(passed);
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    const { status, detail, nextActions } = error;
    return fail(status, describeFailure?.() ?? { detail, next_actions: nextActions });
  }
}
