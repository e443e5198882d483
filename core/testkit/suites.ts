import { ADAPTER_CLAUSES } from './adapter-clauses.js';
import { AdapterHarness } from './adapter-harness.js';
import type { AdapterSubject } from './adapter-subject.js';
import { AuthenticatorHarness } from './authenticator-harness.js';
import type { AuthenticatorSubject } from './authenticator-subject.js';
import type { Clause, ClauseResult } from './clause.js';
import { AUTHENTICATION } from './clauses/authentication.js';
import { IMPORTING } from './clauses/importing.js';
import { SIGNING } from './clauses/signing.js';
import { SURFACE_CLAUSES } from './clauses/surfaces.js';
import { ImporterHarness } from './importer-harness.js';
import type { ImporterSubject } from './importer-subject.js';
import {
  assertKnownExceptions,
  type Harness,
  type Harnesses,
  type RunOptions,
  runClauses,
} from './run-clauses.js';
import { SignerHarness } from './signer-harness.js';
import type { SignerSubject } from './signer-subject.js';
import { SurfaceHarness } from './surface-harness.js';
import type { SurfaceSubject } from './surface-subject.js';
import { findFramework, registerClauses, type TestFramework } from './test-framework.js';

interface SuiteOptions<S, H extends Harness> {
  readonly clauses: readonly Clause<H>[];
  /** The time limit of one clause. Milliseconds. */
  readonly timeoutMs: number;
  /** The name for operators: `adapter 'http'` */
  readonly nameOf: (subject: S) => string;
  readonly start: (subject: S) => Promise<H>;
}

/** The clauses about one kind of plugin. */
interface Suite<S> {
  /**
   * Registers one test per clause. Call it where `describe` may be called. The subject runs only in the tests.
   *
   * `framework` is `{ describe, it }`, such as those of `node:test`. Default: the globals, as in mocha.
   * @throws Error when there is no framework, or `subject.except` has an unknown id.
   */
  register(subject: S, framework?: TestFramework): void;
  /**
   * Runs the same clauses in sequence without a test framework. Resolves with the result of each.
   * Rejects only when `subject.except` has an unknown id.
   */
  run(subject: S, options?: RunOptions): Promise<ClauseResult[]>;
}

function createSuite<
  S extends { readonly except?: Readonly<Record<string, string>> },
  H extends Harness,
>({ clauses, timeoutMs, nameOf, start }: SuiteOptions<S, H>): Suite<S> {
  const createHarnesses = (subject: S): Harnesses<H> => {
    const { except = {} } = subject;
    assertKnownExceptions(except, clauses);
    return { start: () => start(subject), except, timeoutMs };
  };
  return {
    register: (subject, framework) => {
      const title = `${nameOf(subject)} conforms to the contract`;
      registerClauses(findFramework(framework), title, clauses, createHarnesses(subject));
    },
    run: async (subject, options = {}) => runClauses(clauses, createHarnesses(subject), options),
  };
}

/** The adapter contract. */
export const { register: adapterSuite, run: runAdapterClauses } = createSuite({
  clauses: ADAPTER_CLAUSES,
  timeoutMs: 120_000,
  nameOf: ({ adapter }: AdapterSubject) => `adapter '${adapter.kind}'`,
  start: (subject) => AdapterHarness.start(subject),
});

/** The authenticator contract. */
export const { register: authenticatorSuite, run: runAuthenticatorClauses } = createSuite({
  clauses: AUTHENTICATION,
  timeoutMs: 60_000,
  nameOf: ({ authenticator }: AuthenticatorSubject) => `authenticator '${authenticator.name}'`,
  start: (subject) => AuthenticatorHarness.start(subject),
});

/** The surface contract. */
export const { register: surfaceSuite, run: runSurfaceClauses } = createSuite({
  clauses: SURFACE_CLAUSES,
  timeoutMs: 60_000,
  nameOf: ({ surface }: SurfaceSubject) => `surface '${surface.name}'`,
  start: async (subject) => new SurfaceHarness(subject),
});

/** The signer contract. */
export const { register: signerSuite, run: runSignerClauses } = createSuite({
  clauses: SIGNING,
  timeoutMs: 60_000,
  nameOf: ({ signer }: SignerSubject) => `signer '${signer.name}'`,
  start: (subject) => SignerHarness.start(subject),
});

/** The importer contract. */
export const { register: importerSuite, run: runImporterClauses } = createSuite({
  clauses: IMPORTING,
  timeoutMs: 60_000,
  nameOf: ({ importer }: ImporterSubject) => `importer '${importer.name}'`,
  start: (subject) => ImporterHarness.start(subject),
});
