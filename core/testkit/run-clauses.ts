import { AssertionError } from 'node:assert';
import type { Clause, ClauseResult } from './clause.js';

/** How a bench comes to be and ends, for each clause anew. */
export interface Benches<Bench> {
  readonly start: () => Promise<Bench>;
  readonly end: (bench: Bench) => Promise<void>;
  /** Reasons by id of clauses that cannot hold. */
  readonly except: Readonly<Record<string, string>>;
  /** The most that one clause may take. Milliseconds. */
  readonly timeoutMs: number;
}

/** Puts one clause to the test. Never throws: whatever is thrown fails the clause. */
export async function runClause<Bench>(
  clause: Clause<Bench>,
  benches: Benches<Bench>,
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
  try {
    const skipped = await inTime(benches.timeoutMs, runOnBench(clause, benches));
    return skipped === null ? finish('pass', null) : finish('skip', skipped);
  } catch (error) {
    return finish('fail', describe(error), error);
  }
}

/** @returns why it was skipped, `null` when it holds. */
async function runOnBench<Bench>(
  clause: Clause<Bench>,
  { start, end }: Benches<Bench>,
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

async function inTime<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const message = `the clause did not end within ${timeoutMs} ms`;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AssertionError({ message })), timeoutMs);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : 'it threw something that is no error';
}

/** @throws Error for an exception from a clause that is not there: it would except nothing, unnoticed. */
export function refuseUnknownExceptions(
  except: Readonly<Record<string, string>>,
  clauses: readonly { readonly id: string }[],
): void {
  const unknown = Object.keys(except).find((id) => !clauses.some((clause) => clause.id === id));
  if (unknown !== undefined) throw new Error(`except names '${unknown}', which is no clause`);
}
