import type { LiveRoute, RoutedModule } from '../modules/live-module.js';
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

/** A step of a forwarded request, which may concern only some routes. */
export interface RouteStep<Context, Explained> extends ReportedStep<Context, Explained> {
  /** Whether the step concerns a route; absent for one that concerns every route. */
  appliesTo?(route: LiveRoute, module: RoutedModule): boolean;
}

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
 * @param first the index of the first step
 * @returns a promise only if a step does
 */
export function runSteps<Context extends Recorded>(
  steps: readonly Step<Context>[],
  context: Context,
  first = 0,
): void | Promise<void> {
  for (let index = first; index < steps.length; index += 1) {
    const step = steps[index] as Step<Context>;
    context.facts.step = step.name;
    const running = step.run(context);
    if (running !== undefined) return running.then(() => runSteps(steps, context, index + 1));
  }
}
