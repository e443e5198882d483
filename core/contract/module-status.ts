import type { ProviderFact } from './provider-fact.js';

// The status of a module, declared here once: `GET /modules`, status files, the command line and the console
// use this type or a part of it.

/** A circuit breaker of one route at one endpoint that is not closed. */
interface RouteBreaker<State> {
  readonly route: string;
  readonly state: State;
  /** When it becomes half-open, ISO 8601; `null` while it is half-open. */
  readonly until: string | null;
}

/** An endpoint as `GET /modules` shows it. */
export interface EndpointStatus<State extends string = string> {
  /** The name of the endpoint for operators, such as its URL. */
  readonly endpoint: string;
  /** The state of its circuit breaker if that is not closed, otherwise of its health. */
  readonly state: State;
  /** The number of attempts that have not ended. */
  readonly in_flight: number;
  /** The number of attempts since the version was opened. */
  readonly calls: number;
  /** The number of attempts that counted as failures for a circuit breaker. */
  readonly failures: number;
  /** When its open circuit breaker becomes half-open, ISO 8601 in UTC; `null` otherwise. */
  readonly until: string | null;
  /** The circuit breakers of single routes that are not closed. */
  readonly routes: readonly RouteBreaker<State>[];
}

const GOOD_STATES: ReadonlySet<string> = new Set(['up', 'closed']);

/** Whether an endpoint is down by its health checks, or its circuit breaker is not closed. */
export function isEndpointDown({ state }: Pick<EndpointStatus, 'state'>): boolean {
  return !GOOD_STATES.has(state);
}

/** The digests of the served and of the rejected version; `null` for none. */
export interface ModuleDigests {
  /** The digest of the manifest. */
  readonly digest: string | null;
  /** The digest of the descriptor, the manifest and the files that they name. */
  readonly config_digest: string | null;
  /** The digest of the text of the descriptor. */
  readonly file_digest: string | null;
  /** The `file_digest` of the rejected version. */
  readonly rejected_digest: string | null;
  /** The `digest` of the rejected version. */
  readonly rejected_manifest_digest: string | null;
  /** The `config_digest` of the rejected version. */
  readonly rejected_config_digest: string | null;
}

/** The common members of status files and `GET /modules`. */
export interface ModuleCondition<State extends string = string> extends ModuleDigests {
  /** The file of the descriptor. */
  readonly file: string;
  /** Whether the module serves, and which version. */
  readonly state: State;
  /** The start of the state, ISO 8601 in UTC. */
  readonly since: string;
  /** The additional addresses besides `/modules/{name}/http`; absent without mounts. */
  readonly mounts?: readonly { readonly host?: string | undefined; readonly path: string }[];
  /** The reason of the state; `null` without one. */
  readonly reason: string | null;
  /** A remedy for operators; `null` without one. */
  readonly hint: string | null;
}

/** The owner of a module, as in the descriptor. */
export interface ModuleOwner {
  /** The name of a person or team. */
  readonly name?: string | undefined;
  /** An address for questions. */
  readonly contact?: string | undefined;
  /** A link to documentation. */
  readonly docs?: string | undefined;
}

/** A descriptor as `GET /modules` shows it. */
export interface ModuleStatus<State extends string = string, Endpoint extends string = string>
  extends ModuleCondition<State> {
  /** `null` for a file that names no module. */
  readonly name: string | null;
  /** The author's name of the served module; `null` for none. */
  readonly module_id: string | null;
  /** The release and the pages that may use the console bridge, and the permissions that they have. */
  readonly console: {
    readonly release: string | null;
    readonly ui: readonly string[];
    readonly grants: readonly string[];
  };
  /** Whether routes may be called without credentials; absent if none may. */
  readonly public?: boolean;
  /** The addresses that may call the module; absent if all may. */
  readonly allow?: { readonly addresses: readonly string[] };
  /** The owner of the module, as in the descriptor; absent without one. */
  readonly owner?: ModuleOwner;
  /**
   * The scopes of callers that the provider learns by `modgate-identity`, and those of them that
   * another module declares too; absent if calls carry no such token.
   */
  readonly identity?: { readonly scopes: readonly string[]; readonly shared: readonly string[] };
  /** The number of requests for the manifest of the pending version. */
  readonly attempts: number;
  /**
   * The numbers of calls: all, those that failed, those in flight, and those that wait in the queue. A reload
   * keeps the first two. `streams` counts the streams of events that are open; absent for none.
   */
  readonly counts: {
    readonly calls: number;
    readonly failed: number;
    readonly in_flight: number;
    readonly queued: number;
    readonly streams?: number;
  };
  /** The endpoints of the served version; empty for none. */
  readonly endpoints: readonly EndpointStatus<Endpoint>[];
  /**
   * The time of the oldest response from which the endpoints were resolved, ISO 8601 in UTC; `null`
   * while a name has none. Absent for fixed endpoints.
   */
  readonly resolved_at?: string | null;
  /**
   * The error of the last lookup of endpoints; `null` after a success. Absent for fixed endpoints.
   */
  readonly resolve_error?: string | null;
  /** What its provider says about itself, escaped; absent without any. */
  readonly facts?: readonly ProviderFact[];
  /**
   * The destinations of copies of calls, as the current descriptor names them:
   * `https://next.internal`, or `endpoints of ./next.json` for a file. Absent without a candidate.
   */
  readonly candidate?: { readonly origins: readonly string[] };
  /** Absent for the envelope without headers of the provider. */
  readonly responses?: { readonly mode: string; readonly expose_headers: readonly string[] };
}

/** The response to `GET /modules`. */
export interface ModuleStatusList<Module = ModuleStatus> {
  /** One for each descriptor, by name. */
  readonly modules: readonly Module[];
  /** Files in the modules folder that are ignored. */
  readonly ignored: readonly { readonly file: string; readonly reason: string }[];
  /** The number of serving processes. */
  readonly workers: number;
}
