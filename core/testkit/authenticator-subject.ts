import type { ActorKind, Authenticator, Credentials } from '../contract/index.js';

/** Valid credentials and their actor. */
export interface GoodCredentials {
  /** As passed by the host: the scheme in lower case. */
  readonly credentials: Credentials;
  /** The actor that must be returned. */
  readonly actor: {
    readonly kind: ActorKind;
    readonly id: string;
    /** All scopes, in any order. */
    readonly scopes: readonly string[];
  };
}

/** An authenticator that is ready for use. */
export interface RunningAuthenticator {
  /** The authenticator under test. */
  readonly authenticator: Authenticator;
  /** At least one. With two different actors the suite can detect mixed up calls. */
  readonly good: readonly [GoodCredentials, ...GoodCredentials[]];
  /** Well formed but invalid: expired, revoked, or signed with another key. May be empty. */
  readonly bad: readonly Credentials[];
  /** Called once, at the end. Must stop all watchers and requests of the authenticator. */
  stop(): Promise<void>;
}

/** An authenticator and what the suite needs to test it. */
export interface AuthenticatorSubject {
  /** The name in test titles. */
  readonly name: string;
  /** Opens the authenticator. Called once per clause. */
  start(): Promise<RunningAuthenticator>;
  /** Clauses that do not apply, by id, with the reason. Default none. */
  readonly except?: Readonly<Record<string, string>>;
  /** How long a clause waits for each step. Milliseconds, default 10,000. */
  readonly timeoutMs?: number;
}
