/** The conformance suites and fakes for authors of plugins: `modgate/testkit`. */

export { type AdapterSubject, defineSubject } from './adapter-subject.js';
export {
  type AuthenticatorSubject,
  defineAuthenticatorSubject,
  type GivenCredentials,
  type GoodCredentials,
  type RunningIssuer,
} from './authenticator-subject.js';

export type { ClauseResult } from './clause.js';
export { createInvocation, type RouteCall } from './fakes/create-invocation.js';
export { createFakeLog, type FakeLog, type LogLine } from './fakes/fake-log.js';
export {
  createFakeOpenContext,
  type FakeOpenContext,
  type FakeOpenContextOptions,
  type FakeReferences,
} from './fakes/fake-open-context.js';

export { createFakeScope, type FakeScope } from './fakes/fake-scope.js';
export {
  createFakeSurfaceContext,
  type FakeSurfaceContext,
  type FakeSurfaceContextOptions,
} from './fakes/fake-surface-context.js';
export {
  defineImporterSubject,
  type ImporterSubject,
  type RunningSource,
  type SilentSource,
  type SourceWords,
} from './importer-subject.js';
export {
  type HttpReference,
  REFERENCE_SECRET,
  serveHttpReference,
  startHttpReference,
  startUnixReference,
} from './reference/http-reference.js';

export { startLocalReference } from './reference/local-reference.js';
export { REFERENCE_MANIFEST } from './reference/reference-manifest.js';
export {
  createReferenceModule,
  type ReferenceModule,
} from './reference/reference-module.js';

export {
  REFERENCE_FAULTS,
  type ReferenceAnswer,
  type ReferenceFault,
  type ReferenceRequest,
} from './reference/reference-protocol.js';

export type {
  CarriedCalls,
  RequestedCredentials,
  RunningReference,
  StartReference,
} from './reference/running-reference.js';
export { toReferenceRequest } from './reference/to-reference-request.js';
export type { RunOptions } from './run-clauses.js';
export { defineSignerSubject, type SignerSubject, type SignerVector } from './signer-subject.js';
export type { SkippedStart } from './skipped.js';
export {
  adapterSuite,
  authenticatorSuite,
  importerSuite,
  runAdapterClauses,
  runAuthenticatorClauses,
  runImporterClauses,
  runSignerClauses,
  runSurfaceClauses,
  signerSuite,
  surfaceSuite,
} from './suites.js';
export {
  defineSurfaceSubject,
  type SurfaceRequest,
  type SurfaceSubject,
} from './surface-subject.js';
export type { TestFramework } from './test-framework.js';
