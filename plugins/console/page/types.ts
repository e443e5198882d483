// What the host answers below /console/api: the members that the pages show.

/** RFC 9457. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** `null` where no host answered. */
  readonly request_id: string | null;
  readonly errors?: readonly { readonly field: string; readonly reason: string }[];
  readonly next_actions?: readonly string[];
  /** The request, which the page adds to a 403 that it can explain. */
  readonly request?: { readonly method: string; readonly target: string };
}

export interface Session {
  readonly actor: {
    readonly kind: string;
    readonly id: string;
    readonly scopes: readonly string[];
  };
  readonly id: string;
  readonly expires_at: string;
  readonly ui_digest: string;
  readonly version: string;
}

/** Why a session has ended; `unknown` where the host answered 401 without an event before. */
export type SessionEnd = 'signed_out' | 'expired' | 'revoked' | 'unknown';

export interface SignInMethods {
  readonly available: boolean;
  readonly reason: string | null;
  readonly developer: boolean;
  readonly oidc: readonly { readonly issuer: string; readonly name: string }[];
}

interface RouteBreaker {
  readonly route: string;
  readonly state: string;
}

interface EndpointStatus {
  readonly endpoint: string;
  readonly state: string;
  readonly in_flight?: number;
  readonly calls?: number;
  readonly failures?: number;
  readonly until?: string | null;
  readonly routes?: readonly RouteBreaker[];
}

interface Counts {
  readonly calls: number;
  readonly failed: number;
  readonly in_flight: number;
  readonly queued: number;
}

export interface ModuleStatus {
  /** `null` for a file that names no module. */
  readonly name: string | null;
  readonly module_id?: string | null;
  readonly file: string;
  readonly state: string;
  readonly digest: string | null;
  readonly config_digest?: string | null;
  readonly rejected_digest?: string | null;
  readonly console?: {
    readonly release: string | null;
    readonly ui: readonly string[];
    readonly grants: readonly string[];
  };
  readonly since: string;
  readonly reason: string | null;
  readonly hint: string | null;
  readonly counts: Counts;
  readonly endpoints: readonly EndpointStatus[];
}

export interface CallRecord {
  readonly at: string;
  readonly request_id: string;
  readonly correlation_id: string;
  readonly trace_id: string | null;
  readonly module: string | null;
  readonly method: string;
  readonly route: string | null;
  readonly status: number;
  readonly failure: string | null;
  readonly failure_detail?: string | null;
  readonly actor: { readonly kind: string; readonly id: string } | string | null;
  readonly duration_ms: number;
  readonly provider_ms: number | null;
  readonly attempts: number;
  readonly endpoint: string | null;
  readonly surface?: string;
  readonly request_body?: unknown;
  readonly response_body?: unknown;
}

export interface Sample {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** In the interval. */
  readonly calls: number;
  readonly failed: number;
  readonly in_flight: number;
}
