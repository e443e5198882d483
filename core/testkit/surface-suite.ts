import type { ClauseResult } from './clause.js';
import { SURFACE_CLAUSES } from './clauses/surfaces.js';
import {
  assertKnownExceptions,
  type Harnesses,
  type RunOptions,
  runClauses,
} from './run-clauses.js';
import { SurfaceHarness } from './surface-harness.js';
import type { SurfaceSubject } from './surface-subject.js';
import { findFramework, registerClauses, type TestFramework } from './test-framework.js';

const CLAUSE_TIMEOUT_MS = 60_000;

/**
 * Registers one test per clause of the surface contract. Call it where `describe` may be called.
 *
 * `framework` is `{ describe, it }`, such as those of `node:test`. Default: the globals, as in mocha.
 * @throws Error when there is no framework, or `subject.except` has an unknown id.
 */
export function surfaceSuite(subject: SurfaceSubject, framework?: TestFramework): void {
  const title = `surface '${subject.surface.name}' conforms to the contract`;
  registerClauses(findFramework(framework), title, SURFACE_CLAUSES, createHarnesses(subject));
}

/**
 * Runs the same clauses in sequence without a test framework. Resolves with the result of each.
 * Rejects only where {@link surfaceSuite} throws.
 */
export async function runSurfaceClauses(
  subject: SurfaceSubject,
  options: RunOptions = {},
): Promise<ClauseResult[]> {
  return runClauses(SURFACE_CLAUSES, createHarnesses(subject), options);
}

function createHarnesses(subject: SurfaceSubject): Harnesses<SurfaceHarness> {
  const except = subject.except ?? {};
  assertKnownExceptions(except, SURFACE_CLAUSES);
  return {
    start: async () => new SurfaceHarness(subject),
    end: (harness) => harness.close(),
    except,
    timeoutMs: CLAUSE_TIMEOUT_MS,
  };
}
