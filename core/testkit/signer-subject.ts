import type { RequestToSign, SignerFactory } from '../contract/index.js';
import type { FakeReferences } from './fakes/fake-open-context.js';

/** A request and its expected headers. */
export interface SignerVector {
  /** The request, as the host passes it. */
  readonly request: RequestToSign;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A signer and what the suite needs to test it. */
export interface SignerSubject {
  /** The signer under test. */
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from signer to signer
  readonly signer: SignerFactory<any>;
  /** A valid config. Default `{}`. */
  readonly config?: unknown;
  /** The targets of the config's references. */
  readonly references?: FakeReferences;
  /** Published examples, for signers without a clock of their own. Default none. */
  readonly vectors?: readonly SignerVector[];
  /** Clauses that do not apply, by id, with the reason. Default none. */
  readonly except?: Readonly<Record<string, string>>;
  /** How long a clause waits for each step. Milliseconds, default 30,000. */
  readonly timeoutMs?: number;
}

/** Checks the types of a subject. */
export function defineSignerSubject(subject: SignerSubject): SignerSubject {
  return subject;
}
