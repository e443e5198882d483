import type { ActorKind, AuthenticatorFactory, Credentials } from '../contract/index.js';
import type { FakeReferences } from './fakes/fake-open-context.js';
import type { SkippedStart } from './skipped.js';

/**
 * Credentials of a client. The suite adds missing members: `GET`, `/`, and the `authorization`
 * header of `scheme` and `token`. An authenticator that reads other headers gets them in `headers`.
 */
export type GivenCredentials = Partial<Credentials>;

/** Valid credentials and their actor. */
export interface GoodCredentials {
  /** The credentials as the host passes them: the scheme and the names of headers in lower case. */
  readonly credentials: GivenCredentials;
  /** The actor that must be returned. */
  readonly actor: {
    readonly kind: ActorKind;
    readonly id: string;
    /** All scopes, in any order. */
    readonly scopes: readonly string[];
  };
  /** The digest that must be returned with the actor. Default: none. */
  readonly bodySha256?: string;
}

/** What the authenticator is opened with, and credentials for it. */
export interface RunningIssuer {
  /** A valid config. Default `{}`. */
  readonly config?: unknown;
  /** The targets of the config's references. */
  readonly references?: FakeReferences;
  /** Good credentials, at least one pair. With two different actors the suite can detect mixed up calls. */
  readonly good: readonly [GoodCredentials, ...GoodCredentials[]];
  /** Well formed but invalid: expired, revoked, or signed with another key. May be empty. */
  readonly bad: readonly GivenCredentials[];
  /** Called once, after the scope of the authenticator has closed. Default: there is nothing to stop. */
  stop?(): Promise<void>;
}

/** An authenticator and what the suite needs to test it. */
export interface AuthenticatorSubject {
  /** The authenticator under test. `modgate test-plugin` uses the one of the same name that the entry exports. */
  // biome-ignore lint/suspicious/noExplicitAny: config types differ from authenticator to authenticator
  readonly authenticator: AuthenticatorFactory<any>;
  /** Issues credentials, and starts the servers that the authenticator needs. Called once per clause. */
  readonly start: () => Promise<RunningIssuer | SkippedStart>;
  /** Clauses that do not apply, by id, with the reason. Default none. */
  readonly except?: Readonly<Record<string, string>>;
  /** How long a clause waits for each step. Milliseconds, default 30,000. */
  readonly timeoutMs?: number;
}

/** Checks the types of a subject. */
export function defineAuthenticatorSubject(subject: AuthenticatorSubject): AuthenticatorSubject {
  return subject;
}
