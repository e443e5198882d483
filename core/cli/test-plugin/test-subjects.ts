import type { ProviderAdapter, SignerFactory, SurfaceFactory } from '../../contract/index.js';
import {
  type AdapterSubject,
  type AuthenticatorSubject,
  type ClauseResult,
  runAdapterClauses,
  runAuthenticatorClauses,
  runSignerClauses,
  runSurfaceClauses,
  type SignerSubject,
  type SurfaceSubject,
} from '../../testkit/index.js';
import type { Subject } from './read-subjects.js';
import type { SubjectScore } from './scorecard.js';

interface TestOptions {
  readonly only: readonly string[] | undefined;
  readonly onSubject: (subject: string) => void;
  readonly onResult: (result: ClauseResult) => void;
}

interface TestedExports {
  readonly adapters: ReadonlyMap<string, ProviderAdapter>;
  readonly surfaces: ReadonlyMap<string, SurfaceFactory>;
  readonly signers: ReadonlyMap<string, SignerFactory>;
}

/**
 * Tests each adapter, surface and signer of the plugin, the same objects that a host would use, and
 * each authenticator with a subject.
 */
export async function testSubjects(
  { adapters, surfaces, signers }: TestedExports,
  subjects: readonly Subject[],
  options: TestOptions,
): Promise<SubjectScore[]> {
  const scores: SubjectScore[] = [];
  for (const [kind, adapter] of adapters) {
    const subject = subjects
      .filter(isAdapterSubject)
      .find((candidate) => candidate.adapter.kind === kind);
    const run = subject && ((each: OnResult) => runAdapter({ ...subject, adapter }, each, options));
    scores.push(await score(`adapter '${kind}'`, run, options));
  }
  for (const [name, surface] of surfaces) {
    const subject = subjects
      .filter(isSurfaceSubject)
      .find((candidate) => candidate.surface.name === name);
    const run =
      subject &&
      ((onResult: OnResult) =>
        runSurfaceClauses({ ...subject, surface }, { ...pickOnly(options), onResult }));
    scores.push(await score(`surface '${name}'`, run, options));
  }
  for (const [name, signer] of signers) {
    const subject = subjects
      .filter(isSignerSubject)
      .find((candidate) => candidate.signer.name === name);
    const run =
      subject &&
      ((onResult: OnResult) =>
        runSignerClauses({ ...subject, signer }, { ...pickOnly(options), onResult }));
    scores.push(await score(`signer '${name}'`, run, options));
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
    return { subject, clauses: [], reason: 'testkit.js has no subject for it' };
  }
  const errors = collectUncaughtErrors();
  const clauses: ClauseResult[] = [];
  try {
    await run((result) => {
      const checked = failOnUncaughtError(result, errors.take());
      clauses.push(checked);
      onResult(checked);
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'the suite failed to run';
    return { subject, clauses, reason };
  } finally {
    errors.stop();
  }
  return { subject, clauses, reason: null };
}

/** Fails the clause in which an uncaught error occurred, without affecting the others. */
function failOnUncaughtError(result: ClauseResult, errors: readonly unknown[]): ClauseResult {
  if (errors.length === 0 || result.status === 'fail') return result;
  const [first] = errors;
  const description = first instanceof Error ? first.message : `a ${typeof first}`;
  return { ...result, status: 'fail', reason: `uncaught error: ${description}` };
}

function collectUncaughtErrors(): { take(): unknown[]; stop(): void } {
  const errors: unknown[] = [];
  const collect = (error: unknown) => void errors.push(error);
  process.on('uncaughtException', collect);
  process.on('unhandledRejection', collect);
  return {
    take: () => errors.splice(0),
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
  return !('adapter' in subject || 'surface' in subject || 'signer' in subject);
}

function isSurfaceSubject(subject: Subject): subject is SurfaceSubject {
  return 'surface' in subject;
}

function isSignerSubject(subject: Subject): subject is SignerSubject {
  return 'signer' in subject;
}
