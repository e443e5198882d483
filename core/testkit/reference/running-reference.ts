import type {
  CallerTokens,
  HttpRouteOperation,
  Invocation,
  ManifestRoute,
  Outcome,
  Signer,
} from '../../contract/index.js';
import type { RouteCall } from '../fakes/create-invocation.js';
import type { SkippedStart } from '../skipped.js';
import type { ReferenceModule } from './reference-module.js';
import type { ReferenceFault } from './reference-protocol.js';

/** A reference module that is served over the transport under test. */
export interface RunningReference {
  /** The `provider.config` that makes the adapter call it. */
  readonly config: unknown;
  /**
   * The secrets that `config` refers to, by reference (`env:TOKEN`). The suite checks that no message
   * contains them. Default none.
   */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The credentials that the adapter requests itself. Absent if it requests none. */
  readonly credentials?: RequestedCredentials;
  /** The files that `config` refers to, by reference. Default none. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The results of `context.path`, by reference. Default: the reference itself. */
  readonly paths?: Readonly<Record<string, string>>;
  /** What `context.openSigner` opens, for a config that names a signer. Default absent. */
  readonly signer?: Signer;
  /** `context.callerTokens`, for a config that exchanges tokens of callers. Default absent. */
  readonly callerTokens?: CallerTokens;
  /**
   * `operation.<kind>` of a route of the reference module, for an adapter with {@link ProviderAdapter.operation}.
   * Default: none.
   */
  operation?(route: ManifestRoute): unknown;
  /** For an adapter whose calls are not those of HTTP, such as tools. Default: they are. */
  readonly carried?: CarriedCalls;
  /** The faults that this transport can inject; clauses about others are skipped. Default none. */
  readonly faults?: readonly ReferenceFault[];
  /**
   * A call that the adapter cannot send because of what the caller sent, such as a body that does not fit a message.
   * Default: there is none.
   */
  readonly invalid?: Pick<RouteCall, 'method' | 'body'> & Partial<Pick<Invocation, 'headers'>>;
  /** A call of the reference module during which the provider reports progress. Default: it never does. */
  readonly progress?: RouteCall;
  /**
   * Keeps the provider of each later `open` from starting, as during a handshake without which it cannot be called.
   * Lets it start once the returned function is called. Absent if there is nothing to wait for.
   */
  holdStart?(): () => void;
  /** The open connections at the provider's end. Absent for a transport without connections. */
  connections?(): number;
  /**
   * Stops reading the bodies of later requests. Reads them once the returned function is called.
   * Absent for a transport whose provider cannot stop reading.
   */
  holdBodies?(): () => void;
  /**
   * Takes the provider down: stops listening and breaks calls in flight. Resolves when it is down.
   * Absent, like `up`, if a provider cannot be down.
   */
  down?(): Promise<void>;
  /** Starts it again under the same `config`. Resolves when it is reachable. */
  up?(): Promise<void>;
  /** Called once at the end, up or down. Must not wait for calls in flight. */
  stop(): Promise<void>;
}

/** The routes of an adapter that carry the calls of the reference module in their bodies. */
export interface CarriedCalls {
  /** The routes instead of those of the reference module. `operation` is asked for each. */
  readonly routes: readonly ManifestRoute[];
  /** The call that carries one of the reference module. */
  write(operation: HttpRouteOperation): RouteCall;
  /** The response of the reference module in that of the provider, as a stream if that is one. */
  read(outcome: Outcome): Outcome | Promise<Outcome>;
}

/** Credentials that an adapter requests for its calls, such as tokens of an authorization server. */
export interface RequestedCredentials {
  /** Every value that was issued, the latest last. */
  issued(): readonly string[];
  /** Rejects later requests for credentials, until the returned function is called. */
  withhold(): () => void;
}

/** Serves `reference` over a transport. Called once per clause, without shared state. */
export type StartReference = (
  reference: ReferenceModule,
) => Promise<RunningReference | SkippedStart>;
