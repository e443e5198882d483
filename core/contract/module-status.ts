// The status of a module, declared here once: `GET /modules`, status files, the command line and the console
// use this type or a part of it.

/** A circuit breaker of one route at one endpoint that is not closed. */
interface RouteBreaker<State> {
  readonly route: string;
  readonly state: State;
  /** When it lets a call through, ISO 8601; `null` while it does. */
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
  /** When its open circuit breaker lets a call through, ISO 8601 in UTC; `null` while it does. */
  readonly until: string | null;
  /** The circuit breakers of single routes that are not closed. */
  readonly routes: readonly RouteBreaker<State>[];
}

/** What is served and what was rejected; `null` for none. */
export interface ModuleDigests {
  /** The digest of the manifest. */
  readonly digest: string | null;
  /** The digest of the descriptor, the manifest and the files that they name. */
  readonly config_digest: string | null;
  /** The digest of the text of the descriptor. */
  readonly file_digest: string | null;
  /** The `file_digest` of what was rejected. */
  readonly rejected_digest: string | null;
  /** The `digest` of what was rejected. */
  readonly rejected_manifest_digest: string | null;
  /** The `config_digest` of what was rejected. */
  readonly rejected_config_digest: string | null;
}

/** What a status file and `GET /modules` share. */
export interface ModuleCondition<State extends string = string> extends ModuleDigests {
  /** The file of the descriptor. */
  readonly file: string;
  /** Whether the module serves, and which version of it. */
  readonly state: State;
  /** When the state began, ISO 8601 in UTC. */
  readonly since: string;
  /** Where it answers besides `/modules/{name}/http`; absent without mounts. */
  readonly mounts?: readonly { readonly host?: string | undefined; readonly path: string }[];
  /** Why the module is in this state; `null` if there is nothing to say. */
  readonly reason: string | null;
  /** What operators can do about it; `null` if there is nothing to do. */
  readonly hint: string | null;
}

/** A descriptor as `GET /modules` shows it. */
export interface ModuleStatus<State extends string = string, Endpoint extends string = string>
  extends ModuleCondition<State> {
  /** `null` for a file that names no module. */
  readonly name: string | null;
  /** The author's name of the module that is served; `null` if none is. */
  readonly module_id: string | null;
  /** The release and the pages that may use the console bridge, and the permissions that they have. */
  readonly console: {
    readonly release: string | null;
    readonly ui: readonly string[];
    readonly grants: readonly string[];
  };
  /** Whether routes may be called without credentials; absent where none may. */
  readonly public?: boolean;
  /** Who may call the module by address; absent where every address may. */
  readonly allow?: { readonly addresses: readonly string[] };
  /** Who answers for the module, as in the descriptor; absent without an owner there. */
  readonly owner?: {
    readonly name?: string;
    readonly contact?: string;
    readonly docs?: string;
  };
  /** How often the host has requested the manifest of the pending version. */
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
  /** The endpoints of the version that is served; empty if none is. */
  readonly endpoints: readonly EndpointStatus<Endpoint>[];
  /**
   * When the oldest answer arrived that the endpoints come from, ISO 8601 in UTC; `null` while a name has had none.
   * Absent where no endpoint moves.
   */
  readonly resolved_at?: string | null;
  /** Why the last look-up of endpoints failed; `null` when it succeeded. Absent where no endpoint moves. */
  readonly resolve_error?: string | null;
  /**
   * Where copies of calls go, as the descriptor in use names it: `https://next.internal`, or `endpoints of ./next.json`
   * for a file. Absent without a candidate.
   */
  readonly candidate?: { readonly origins: readonly string[] };
  /** Absent for the envelope without headers of the provider. */
  readonly responses?: { readonly mode: string; readonly expose_headers: readonly string[] };
}
