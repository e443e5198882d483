import { AssertionError } from 'node:assert';
import type { Clause, ClauseResult } from './clause.js';

/** How a bench comes to be and ends, for each clause anew. */
export interface Harnesses<Bench> {
  readonly start: () => Promise<Bench>;
  readonly end: (bench: Bench) => Promise<void>;
  /** Reasons by id of clauses that cannot hold. */
  readonly except: Readonly<Record<string, string>>;
  /** The most that one clause may take. Milliseconds. */
  readonly timeoutMs: number;
}

/** How clauses are run without a test framework. */
export interface RunOptions {
  /** The ids of the clauses to run; default all. An id that is no clause's runs nothing. */
  readonly only?: readonly string[];
  /** Called with each result as soon as it is there, before the next clause begins. */
  readonly onResult?: (result: ClauseResult) => void;
}

/** One after the other, since some count the handles of the process. */
export async function runClauses<Bench>(
  clauses: readonly Clause<Bench>[],
  benches: Harnesses<Bench>,
  { only, onResult }: RunOptions,
): Promise<ClauseResult[]> {
  const results: ClauseResult[] = [];
  for (const clause of clauses) {
    if (only !== undefined && !only.includes(clause.id)) continue;
    const result = await runClause(clause, benches);
    onResult?.(result);
    results.push(result);
  }
  return results;
}

/** Puts one clause to the test. Never throws: whatever is thrown fails the clause. */
export async function runClause<Bench>(
  clause: Clause<Bench>,
  benches: Harnesses<Bench>,
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
  const excepted = benches.except[id];
  if (excepted !== undefined) return finish('skip', excepted);
  // A framework sets its own timer once the test has returned: handles are counted after that.
  await Promise.resolve();
  try {
    const skipped = await inTime(benches.timeoutMs, () => runOnHarness(clause, benches));
    return skipped === null ? finish('pass', null) : finish('skip', skipped);
  } catch (error) {
    return finish('fail', describe(error), error);
  }
}

/** @returns why it was skipped, `null` when it holds. */
async function runOnHarness<Bench>(
  clause: Clause<Bench>,
  { start, end }: Harnesses<Bench>,
): Promise<string | null> {
  const bench = await start();
  let skipped: string | null;
  try {
    skipped = clause.skip?.(bench) ?? null;
    if (skipped === null) await clause.run(bench);
  } catch (error) {
    // What the clause found is the news, and it is what an end that fails then comes from.
    await end(bench).catch(() => {});
    throw error;
  }
  await end(bench);
  return skipped;
}

/** The timer is there before the work begins, since a clause may count what is active. */
async function inTime<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const message = `the clause did not end within ${timeoutMs} ms`;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AssertionError({ message })), timeoutMs);
  });
  try {
    return await Promise.race([work(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'it threw something that is no error';
}

/** @throws Error for an exception from a clause that is not there: it would except nothing, unnoticed. */
export function assertKnownExceptions(
  except: Readonly<Record<string, string>>,
  clauses: readonly { readonly id: string }[],
): void {
  const unknown = Object.keys(except).find((id) => !clauses.some((clause) => clause.id === id));
  if (unknown !== undefined) throw new Error(`except names '${unknown}', which is no clause`);
}
