import type { ActorKind, Authenticator, Credentials } from '../contract/index.js';

/** Credentials that are good, and whose they are. */
export interface GoodCredentials {
  /** As the host would hand them over: the scheme in lower case. */
  readonly credentials: Credentials;
  /** The actor that must be answered. */
  readonly actor: {
    readonly kind: ActorKind;
    readonly id: string;
    /** All of them; their order says nothing. */
    readonly scopes: readonly string[];
  };
}

/** An authenticator that is ready to be asked. */
export interface RunningAuthenticator {
  /** What is put to the test. */
  readonly authenticator: Authenticator;
  /** At least one; with two of different actors the suite can tell whether calls are kept apart. */
  readonly good: readonly [GoodCredentials, ...GoodCredentials[]];
  /** Well formed, and refused nevertheless: expired, revoked, signed by somebody else. May be empty. */
  readonly bad: readonly Credentials[];
  /** Called once, at the end. Ends what the authenticator watches or fetches. */
  stop(): Promise<void>;
}

/** An authenticator, and what the suite needs to put it to the test. */
export interface AuthenticatorSubject {
  /** As in the titles of the tests. */
  readonly name: string;
  /** Opens the authenticator; called anew for each clause. */
  start(): Promise<RunningAuthenticator>;
  /** Clauses that cannot hold, by id, with the reason. Default none. */
  readonly except?: Readonly<Record<string, string>>;
  /** How long a clause waits for an answer. Milliseconds, default 10,000. */
  readonly patienceMs?: number;
}
