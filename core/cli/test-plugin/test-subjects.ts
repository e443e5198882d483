import type { ProviderAdapter } from '../../contract/index.js';
import {
  type AdapterSubject,
  type AuthenticatorSubject,
  type ClauseResult,
  runAdapterClauses,
  runAuthenticatorClauses,
} from '../../testkit/index.js';
import type { Subject } from './read-subjects.js';
import type { SubjectScore } from './scorecard.js';

export interface TestOptions {
  readonly only: readonly string[] | undefined;
  readonly onSubject: (subject: string) => void;
  readonly onResult: (result: ClauseResult) => void;
}

/**
 * Puts each adapter that the plugin exports to the test, the very object that a host would get, and each
 * authenticator that has a subject.
 */
export async function testSubjects(
  adapters: ReadonlyMap<string, ProviderAdapter>,
  subjects: readonly Subject[],
  options: TestOptions,
): Promise<SubjectScore[]> {
  const scores: SubjectScore[] = [];
  for (const [kind, adapter] of adapters) {
    const subject = subjects.filter(isAdapterSubject).find((one) => one.adapter.kind === kind);
    const run = subject && ((each: OnResult) => runAdapter({ ...subject, adapter }, each, options));
    scores.push(await score(`adapter '${kind}'`, run, options));
  }
  for (const subject of subjects.filter(isAuthenticatorSubject)) {
    const run = (onResult: OnResult) =>
      runAuthenticatorClauses(subject, { ...pickOnly(options), onResult });
    scores.push(await score(`authenticator '${subject.name}'`, run, options));
  }
  return scores;
}

type OnResult = TestOptions['onResult'];

function runAdapter(
  subject: AdapterSubject,
  onResult: OnResult,
  options: TestOptions,
): Promise<ClauseResult[]> {
  return runAdapterClauses(subject, { ...pickOnly(options), onResult });
}

async function score(
  subject: string,
  run: ((onResult: OnResult) => Promise<unknown>) | undefined,
  { onSubject, onResult }: TestOptions,
): Promise<SubjectScore> {
  onSubject(subject);
  if (run === undefined) {
    return { subject, clauses: [], reason: 'no subject of testkit.js is for it' };
  }
  const strays = collectRejections();
  const clauses: ClauseResult[] = [];
  try {
    await run((result) => {
      const judged = attributeRejections(result, strays.take());
      clauses.push(judged);
      onResult(judged);
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'the suite cannot be run';
    return { subject, clauses, reason };
  } finally {
    strays.stop();
  }
  return { subject, clauses, reason: null };
}

/** An error that nobody caught ends no other clause, and is not lost: it fails the one that it fell in. */
function attributeRejections(result: ClauseResult, strays: readonly unknown[]): ClauseResult {
  if (strays.length === 0 || result.status === 'fail') return result;
  const [first] = strays;
  const what = first instanceof Error ? first.message : 'something that is no error';
  return { ...result, status: 'fail', reason: `an error was not caught: ${what}` };
}

function collectRejections(): { take(): unknown[]; stop(): void } {
  const strays: unknown[] = [];
  const collect = (error: unknown) => void strays.push(error);
  process.on('uncaughtException', collect);
  process.on('unhandledRejection', collect);
  return {
    take: () => strays.splice(0),
    stop: () => {
      process.off('uncaughtException', collect);
      process.off('unhandledRejection', collect);
    },
  };
}

function pickOnly({ only }: TestOptions): { readonly only?: readonly string[] } {
  return only === undefined ? {} : { only };
}

function isAdapterSubject(subject: Subject): subject is AdapterSubject {
  return 'adapter' in subject;
}

function isAuthenticatorSubject(subject: Subject): subject is AuthenticatorSubject {
  return !('adapter' in subject);
}
