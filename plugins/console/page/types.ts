// The responses of the host below /console/api: the members that the pages use.

import type { HostResource } from '../../../core/contract/listing.js';
import type { Manifest } from '../../../core/contract/manifest.js';

export type { ApprovalDetails, ListedApproval } from '../../../core/contract/approval-status.js';
export type { CallRecord } from '../../../core/contract/call-record.js';
export type { FleetStatus } from '../../../core/contract/fleet-status.js';
export type {
  ActionInputField,
  AdminAction,
  AdminEntity,
  ConfigField,
  ConfigType,
  Manifest,
} from '../../../core/contract/manifest.js';
export type { ModuleStatus } from '../../../core/contract/module-status.js';
export type { RoleReport } from '../../../core/contract/role-report.js';

/** An entry of `GET /manifests`. */
export interface NamedManifest {
  readonly name: string;
  readonly digest: string;
  readonly manifest: Manifest;
}

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
  readonly resources: readonly HostResource[];
}

/** The reason why a session has ended; `unknown` after a 401 without an earlier event. */
export type SessionEnd = 'signed_out' | 'expired' | 'revoked' | 'unknown';

export interface SignInMethods {
  readonly available: boolean;
  readonly reason: string | null;
  readonly developer: boolean;
  readonly oidc: readonly { readonly issuer: string; readonly name: string }[];
}

export interface Sample {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly calls: number;
  readonly failed: number;
  readonly in_flight: number;
}
