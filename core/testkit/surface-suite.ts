import type { ClauseResult } from './clause.js';
import { SURFACE_CLAUSES } from './clauses/surfaces.js';
import { createSuite } from './create-suite.js';
import type { RunOptions } from './run-clauses.js';
import { SurfaceHarness } from './surface-harness.js';
import type { SurfaceSubject } from './surface-subject.js';
import type { TestFramework } from './test-framework.js';

const suite = createSuite({
  clauses: SURFACE_CLAUSES,
  timeoutMs: 60_000,
  nameOf: ({ surface }: SurfaceSubject) => `surface '${surface.name}'`,
  start: async (subject) => new SurfaceHarness(subject),
});

/**
 * Registers one test per clause of the surface contract. Call it where `describe` may be called.
 *
 * `framework` is `{ describe, it }`, such as those of `node:test`. Default: the globals, as in mocha.
 * @throws Error when there is no framework, or `subject.except` has an unknown id.
 */
export function surfaceSuite(subject: SurfaceSubject, framework?: TestFramework): void {
  suite.register(subject, framework);
}

/**
 * Runs the same clauses in sequence without a test framework. Resolves with the result of each.
 * Rejects only where {@link surfaceSuite} throws.
 */
export async function runSurfaceClauses(
  subject: SurfaceSubject,
  options: RunOptions = {},
): Promise<ClauseResult[]> {
  return suite.run(subject, options);
}
