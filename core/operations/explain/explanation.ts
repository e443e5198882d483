import type { Actor } from '../../contract/index.js';
import type { Mount } from '../../descriptor/sections/mount.js';
import type { Owner } from '../../descriptor/sections/owner.js';
import type { PathProblem } from '../../lib/routing/request-path.js';
import type { StepName } from '../../steps.js';
import type { StepReport } from '../step.js';

export interface ExplainedCheck extends StepReport {
  readonly check: StepName;
}

export interface ExplainedRoute {
  readonly method: string;
  readonly declared_path: string;
  readonly capability: string | null;
}

export interface ExplainedHeader {
  readonly name: string;
  /** `null` for secret values, and for values that differ between calls. */
  readonly value: string | null;
  readonly from: 'host' | 'caller' | 'credentials';
}

export interface ExplainedLimit {
  /** The name as in the descriptor: `limits.timeout_ms`. */
  readonly name: string;
  readonly value: number | string;
  /** `crm.yaml:12:3`, `default`, or `null` if the file has changed since. */
  readonly source: string | null;
}

export interface ExplainedEndpoint {
  readonly endpoint: string;
  readonly state: string;
  /** The target at this endpoint, if endpoints have a base path. */
  readonly target?: string;
}

/** The response of `GET /explain`, in wire names. */
export interface Explanation {
  readonly method: string;
  readonly target: string;
  /** The status of the first check that fails; `null` if no module handles the request. */
  readonly verdict: { readonly status: number | null; readonly detail: string };
  readonly actor: {
    readonly kind: Actor['kind'];
    readonly id: string;
    /** The scopes, including those of its roles. */
    readonly scopes: readonly string[];
    /** The roles that the roles file has; absent for an actor without roles. */
    readonly roles?: readonly string[];
  } | null;
  readonly path: {
    readonly kind: 'module' | 'bridge' | 'unmatched' | 'host';
    readonly module: string | null;
    /** Canonical: `/` and the decoded segments. */
    readonly provider_path: string | null;
    /**
     * The unchanged target for the provider, with the base path of its endpoint; with different
     * base paths, that of the first one.
     */
    readonly forward_target: string | null;
    readonly problem: PathProblem | null;
    /** The mount of the path; absent for the module's own path. */
    readonly mount?: Mount;
  };
  readonly checks: readonly ExplainedCheck[];
  readonly module: {
    readonly name: string;
    readonly file: string;
    readonly state: string;
    readonly since: string;
    readonly reason: string | null;
    readonly hint: string | null;
    readonly digest: string | null;
    readonly config_digest: string | null;
    readonly owner?: Owner;
  } | null;
  readonly route:
    | (ExplainedRoute & { readonly path_params: Readonly<Record<string, string>> })
    | null;
  /** Other matching routes, the next best first. */
  readonly also_matches: readonly ExplainedRoute[];
  /** Methods with a route for this path. */
  readonly methods: readonly string[];
  readonly body: {
    readonly policy: 'ignored' | 'empty' | 'optional' | 'json';
    /** Bytes. */
    readonly max_bytes: number | null;
  } | null;
  readonly headers: readonly ExplainedHeader[];
  readonly endpoints: readonly ExplainedEndpoint[];
  readonly limits: readonly ExplainedLimit[];
}
