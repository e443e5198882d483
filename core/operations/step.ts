import type { StepName } from '../steps.js';

/** One step of a request: it passes, or fails with a HostError. */
export interface Step<Context> {
  readonly name: StepName;
  /** @throws HostError. */
  run(context: Context): void | Promise<void>;
}

/** A step that `explain` reports, unless it has nothing to say without a call. */
export interface ReportedStep<Context, Explained> extends Step<Context> {
  /** Explains in words for operators; `undefined` where the step does nothing for this request. */
  explain?(explained: Explained): StepReport | undefined;
}

/** What `explain` says of a step. */
export interface StepReport {
  /** `unknown` if only a call can show it, or if it depends on a step that failed. */
  readonly outcome: 'pass' | 'fail' | 'unknown';
  /** The status of a failure. */
  readonly status: number | null;
  readonly detail: string;
  readonly next_actions: readonly string[];
}

interface Recorded {
  readonly facts: { step: StepName | null };
}

/** Runs steps in order. The facts keep the name of the one that runs, so that the one that fails is known. */
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
