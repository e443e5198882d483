import type { PluginExports } from '../../plugin-loader/import-plugin.js';
import {
  type ClauseResult,
  type RunOptions,
  runAdapterClauses,
  runAuthenticatorClauses,
  runImporterClauses,
  runSignerClauses,
  runSurfaceClauses,
} from '../../testkit/index.js';
import type { Subject } from './read-subjects.js';
import type { SubjectScore } from './scorecard.js';

interface TestOptions {
  readonly only: readonly string[] | undefined;
  readonly onSubject: (subject: string) => void;
  readonly onResult: (result: ClauseResult) => void;
}

/** The suites, by the member of a subject that holds what it tests. */
const SUITES = {
  adapter: { exports: 'adapters', run: runAdapterClauses },
  authenticator: { exports: 'authenticators', run: runAuthenticatorClauses },
  surface: { exports: 'surfaces', run: runSurfaceClauses },
  signer: { exports: 'signers', run: runSignerClauses },
  importer: { exports: 'importers', run: runImporterClauses },
} as const;

type SuiteName = keyof typeof SUITES;

const SUITE_NAMES = Object.keys(SUITES) as SuiteName[];
type Run = (subject: object, options: RunOptions) => Promise<unknown>;

/** Runs each subject on the same object that a host would use. */
export async function testSubjects(
  exports: PluginExports,
  subjects: readonly Subject[],
  { only, onSubject, onResult }: TestOptions,
): Promise<SubjectScore[]> {
  const scores: SubjectScore[] = [];
  for (const suite of SUITE_NAMES) {
    const exported: ReadonlyMap<string, object> = exports[SUITES[suite].exports];
    const ofSuite = subjects.filter((subject) => findSuite(subject) === suite);
    for (const name of new Set([...exported.keys(), ...ofSuite.map(nameOf)])) {
      const own = ofSuite.filter((subject) => nameOf(subject) === name);
      for (const [index, subject] of (own.length === 0 ? [null] : own).entries()) {
        const title = `${suite} '${name}'${index === 0 ? '' : ` (${index + 1})`}`;
        await test(title, suite, exported.get(name), subject);
      }
    }
  }
  return scores;

  async function test(
    title: string,
    suite: SuiteName,
    plugin: object | undefined,
    subject: Subject | null,
  ): Promise<void> {
    onSubject(title);
    const errors = collectUncaughtErrors();
    const clauses: ClauseResult[] = [];
    const report = (result: ClauseResult) => {
      const checked = failOnUncaughtError(result, errors.take());
      clauses.push(checked);
      onResult(checked);
    };
    let reason: string | null = null;
    try {
      if (subject === null) throw new Error('testkit.js has no subject for it');
      if (plugin === undefined) throw new Error('the plugin does not export it');
      const run = SUITES[suite].run as Run;
      await run({ ...subject, [suite]: plugin }, { ...(only && { only }), onResult: report });
    } catch (error) {
      reason = error instanceof Error ? error.message : 'the suite failed to run';
    } finally {
      errors.stop();
    }
    scores.push({ subject: title, clauses, reason });
  }
}

/** The subject of an importer has the adapter of its kind beside it. */
function findSuite(subject: Subject): SuiteName | undefined {
  return 'importer' in subject ? 'importer' : SUITE_NAMES.find((suite) => suite in subject);
}

/** The kind of an adapter, the name of anything else. */
function nameOf(subject: Subject): string {
  if ('importer' in subject) return subject.importer.name;
  if ('adapter' in subject) return subject.adapter.kind;
  if ('authenticator' in subject) return subject.authenticator.name;
  return 'surface' in subject ? subject.surface.name : subject.signer.name;
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
