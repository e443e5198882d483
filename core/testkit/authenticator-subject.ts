import type { ActorKind, Authenticator, Credentials } from '../contract/index.js';

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

/** An authenticator that is ready for use. */
export interface RunningAuthenticator {
  /** The authenticator under test. */
  readonly authenticator: Authenticator;
  /** Good credentials, at least one pair. With two different actors the suite can detect mixed up calls. */
  readonly good: readonly [GoodCredentials, ...GoodCredentials[]];
  /** Well formed but invalid: expired, revoked, or signed with another key. May be empty. */
  readonly bad: readonly GivenCredentials[];
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
