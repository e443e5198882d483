import { AssertionError } from 'node:assert';
import type { Clause, ClauseResult } from './clause.js';
import { SkippedClause } from './skipped.js';

/** The fixture of one clause. */
export interface Harness {
  /** Closes all resources that the clause has left open. */
  close(): Promise<void>;
}

/** The execution of each clause. */
export interface Harnesses<H extends Harness> {
  readonly start: () => Promise<H>;
  /** The reasons of clauses that do not apply, by id. */
  readonly except: Readonly<Record<string, string>>;
  /** The time limit of one clause. Milliseconds. */
  readonly timeoutMs: number;
}

/** Options to run clauses without a test framework. */
export interface RunOptions {
  /** The clauses to run: ids, or areas such as `answer.*`. Default all. Unknown ones are ignored. */
  readonly only?: readonly string[];
  /** Called with each result, before the next clause starts. */
  readonly onResult?: (result: ClauseResult) => void;
}

/** Runs in sequence, because some clauses count the handles of the process. */
export async function runClauses<H extends Harness>(
  clauses: readonly Clause<H>[],
  harnesses: Harnesses<H>,
  { only, onResult }: RunOptions,
): Promise<ClauseResult[]> {
  const results: ClauseResult[] = [];
  for (const clause of clauses) {
    if (only !== undefined && !only.some((pattern) => isClause(pattern, clause))) continue;
    const result = await runClause(clause, harnesses);
    onResult?.(result);
    results.push(result);
  }
  return results;
}

/** Whether the pattern is the id of the clause, or its area: `answer.*`. */
export function isClause(pattern: string, { id }: { readonly id: string }): boolean {
  return pattern === id || (pattern.endsWith('.*') && id.startsWith(pattern.slice(0, -1)));
}

/** Runs one clause. Never throws: an error fails the clause. */
export async function runClause<H extends Harness>(
  clause: Clause<H>,
  harnesses: Harnesses<H>,
): Promise<ClauseResult> {
  const { id, title } = clause;
  const startedAt = performance.now();
  const finish = (status: ClauseResult['status'], reason: string | null, error?: unknown) => ({
    id,
    title,
    status,
    reason,
    ...(error !== undefined && { error }),
    durationMs: Math.round(performance.now() - startedAt),
  });
  const excepted = harnesses.except[id];
  if (excepted !== undefined) return finish('skip', excepted);
  // Clauses count handles: a framework may set its own timer after the test function has returned.
  await Promise.resolve();
  try {
    const skipped = await withTimeLimit(harnesses.timeoutMs, () => runOnHarness(clause, harnesses));
    return skipped === null ? finish('pass', null) : finish('skip', skipped);
  } catch (error) {
    if (error instanceof SkippedClause) return finish('skip', error.message);
    return finish('fail', describe(error), error);
  }
}

/** @returns the reason of a skip; `null` when the clause passed */
async function runOnHarness<H extends Harness>(
  clause: Clause<H>,
  { start }: Harnesses<H>,
): Promise<string | null> {
  const harness = await start();
  let skipped: string | null;
  try {
    skipped = clause.skip?.(harness) ?? null;
    if (skipped === null) await clause.run(harness);
  } catch (error) {
    // The clause's own error is the cause; an error of the cleanup would hide it.
    await harness.close().catch(() => {});
    throw error;
  }
  await harness.close();
  return skipped;
}

/** Sets the timer before the work starts, because a clause may count handles. */
async function withTimeLimit<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const message = `the clause did not end within ${timeoutMs} ms`;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AssertionError({ message })), timeoutMs);
  });
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : `threw a ${typeof error}`;
}

/** @throws Error for an unknown clause id, which would otherwise have no effect. */
export function assertKnownExceptions(
  except: Readonly<Record<string, string>>,
  clauses: readonly { readonly id: string }[],
): void {
  const unknown = Object.keys(except).find((id) => !clauses.some((clause) => clause.id === id));
  if (unknown !== undefined) throw new Error(`except has the unknown clause '${unknown}'`);
}
