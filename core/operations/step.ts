import type { StepName } from '../steps.js';

/** One step of a request: it passes, or fails with a HostError. */
export interface Step<Context> {
  readonly name: StepName;
  /** @throws HostError. */
  run(context: Context): void | Promise<void>;
}

/** A step that `explain` reports, unless it depends on a call only. */
export interface ReportedStep<Context, Explained> extends Step<Context> {
  /** Explains the step for operators; returns `undefined` if it does nothing for this request. */
  explain?(explained: Explained): StepReport | undefined;
}

/** The report of a step in `explain`. */
export interface StepReport {
  /** `unknown` if only a call can decide it, or if it depends on a step that failed. */
  readonly outcome: 'pass' | 'fail' | 'unknown';
  /** The status of a failure. */
  readonly status: number | null;
  readonly detail: string;
  readonly next_actions: readonly string[];
}

interface Recorded {
  readonly facts: { step: StepName | null };
}

/**
 * Runs steps in order. The facts record the name of the current step, and so of the one that fails.
 */
export async function runSteps<Context extends Recorded>(
  steps: readonly Step<Context>[],
  context: Context,
): Promise<void> {
  const { facts } = context;
  for (const step of steps) {
    facts.step = step.name;
    const running = step.run(context);
    if (running !== undefined) await running;
  }
}
