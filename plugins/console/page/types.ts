// The responses of the host below /console/api: the members that the pages use.

export type { CallRecord } from '../../../core/contract/call-record.js';
export type { FleetHostStatus, FleetStatus } from '../../../core/contract/fleet-status.js';
export type { ModuleStatus } from '../../../core/contract/module-status.js';
export type { RoleReport } from '../../../core/contract/role-report.js';

/** RFC 9457. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** `null` without a response of a host. */
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

/** The reason why a session has ended; `unknown` after a 401 without an earlier event. */
export type SessionEnd = 'signed_out' | 'expired' | 'revoked' | 'unknown';

export interface SignInMethods {
  readonly available: boolean;
  readonly reason: string | null;
  readonly developer: boolean;
  readonly oidc: readonly { readonly issuer: string; readonly name: string }[];
}

/** A request for approval, without the arguments of the call. */
export interface ListedApproval {
  readonly id: string;
  readonly status: string;
  readonly module: string;
  readonly name: string;
  readonly danger_level: string;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly requested_at: string;
  readonly expires_at: string;
}

/** `GET /candidate?module=` */
export interface CandidateReport {
  readonly totals: readonly CandidateTotals[];
  /** Newest first. */
  readonly differences: readonly {
    readonly at: string;
    readonly route: string;
    /** Statuses. */
    readonly live: number;
    readonly candidate: number;
    readonly request_id: string;
    readonly pointers: readonly { readonly pointer: string; readonly kind: string }[];
  }[];
}

export interface CandidateTotals {
  readonly route: string;
  readonly same: number;
  readonly different: number;
  readonly failed: number;
  readonly dropped: number;
}

export interface Sample {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The number of calls in the interval. */
  readonly calls: number;
  readonly failed: number;
  readonly in_flight: number;
}
