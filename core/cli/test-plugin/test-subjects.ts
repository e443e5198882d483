import type { ProviderAdapter, SignerFactory, SurfaceFactory } from '../../contract/index.js';
import {
  type AdapterSubject,
  type ClauseResult,
  type RunOptions,
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
  { only, onSubject, onResult }: TestOptions,
): Promise<SubjectScore[]> {
  const scores: SubjectScore[] = [];
  for (const [kind, adapter] of adapters) {
    const subject = subjects.find(
      (one): one is AdapterSubject => 'adapter' in one && one.adapter.kind === kind,
    );
    const run = (each: RunOptions) => subject && runAdapterClauses({ ...subject, adapter }, each);
    await test(`adapter '${kind}'`, run);
  }
  for (const [name, surface] of surfaces) {
    const subject = subjects.find(
      (one): one is SurfaceSubject => 'surface' in one && one.surface.name === name,
    );
    const run = (each: RunOptions) => subject && runSurfaceClauses({ ...subject, surface }, each);
    await test(`surface '${name}'`, run);
  }
  for (const [name, signer] of signers) {
    const subject = subjects.find(
      (one): one is SignerSubject => 'signer' in one && one.signer.name === name,
    );
    const run = (each: RunOptions) => subject && runSignerClauses({ ...subject, signer }, each);
    await test(`signer '${name}'`, run);
  }
  for (const subject of subjects) {
    if ('adapter' in subject || 'surface' in subject || 'signer' in subject) continue;
    await test(`authenticator '${subject.name}'`, (each) => runAuthenticatorClauses(subject, each));
  }
  return scores;

  /** @param run returns `undefined` without a subject */
  async function test(
    subject: string,
    run: (each: RunOptions) => Promise<unknown> | undefined,
  ): Promise<void> {
    onSubject(subject);
    const errors = collectUncaughtErrors();
    const clauses: ClauseResult[] = [];
    const report = (result: ClauseResult) => {
      const checked = failOnUncaughtError(result, errors.take());
      clauses.push(checked);
      onResult(checked);
    };
    try {
      const running = run({ ...(only !== undefined && { only }), onResult: report });
      await running;
      const reason = running === undefined ? 'testkit.js has no subject for it' : null;
      scores.push({ subject, clauses, reason });
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'the suite failed to run';
      scores.push({ subject, clauses, reason });
    } finally {
      errors.stop();
    }
  }
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
