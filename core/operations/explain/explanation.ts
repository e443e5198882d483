import type { ActorKind } from '../../contract/index.js';

/** Why a path can match no route (contract 1.2). */
export interface TargetProblem {
  /** Stable id in kebab-case: `dot-segment`. */
  readonly rule: string;
  /** Which segment of the path within the module, from 1; `null` for a fault of the rest. */
  readonly segment: number | null;
  readonly reason: string;
}

/** Each in the order in which the host judges them (contract 1.1). */
export const CHECK_NAMES = [
  'actor',
  'path',
  'module',
  'route',
  'capability',
  'body',
  'provider',
] as const;

export type CheckName = (typeof CHECK_NAMES)[number];

export interface ExplainedCheck {
  readonly check: CheckName;
  /** `unknown` for what only the call itself shows, and for what depends on a check that failed. */
  readonly outcome: 'pass' | 'fail' | 'unknown';
  /** The status that a failure answers. */
  readonly status: number | null;
  readonly detail: string;
  readonly next_actions: readonly string[];
}

export interface ExplainedRoute {
  readonly method: string;
  readonly declared_path: string;
  readonly capability: string | null;
}

export interface ExplainedHeader {
  readonly name: string;
  /** `null` where it differs from call to call, or is secret. */
  readonly value: string | null;
  readonly from: 'host' | 'caller' | 'credentials';
}

export interface ExplainedLimit {
  /** As in the descriptor: `limits.timeout_ms`. */
  readonly name: string;
  readonly value: number | string;
  /** `crm.yaml:12:3`, `default`, or `null` when the file no longer says what is served. */
  readonly source: string | null;
}

export interface ExplainedEndpoint {
  readonly endpoint: string;
  readonly state: string;
}

/** `GET /explain`, on the wire: what the host does with a request, and why. */
export interface Explanation {
  readonly method: string;
  readonly target: string;
  /** The first check that fails decides; `null` for what is no module's request. */
  readonly verdict: { readonly status: number | null; readonly detail: string };
  readonly actor: {
    readonly kind: ActorKind;
    readonly id: string;
    readonly scopes: readonly string[];
  } | null;
  readonly path: {
    readonly kind: 'module' | 'bridge' | 'unmatched' | 'host';
    readonly module: string | null;
    /** Canonical: `/` and the decoded segments. */
    readonly provider_path: string | null;
    /** What the provider gets, byte for byte. */
    readonly forward_target: string | null;
    readonly fault: TargetProblem | null;
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
  } | null;
  readonly route:
    | (ExplainedRoute & { readonly path_params: Readonly<Record<string, string>> })
    | null;
  /** Routes that match as well, the next best first. */
  readonly losers: readonly ExplainedRoute[];
  /** Methods that have a route for this path. */
  readonly methods: readonly string[];
  readonly body: {
    readonly policy: 'ignored' | 'empty' | 'json';
    /** Bytes. */
    readonly max_bytes: number | null;
  } | null;
  readonly headers: readonly ExplainedHeader[];
  readonly endpoints: readonly ExplainedEndpoint[];
  readonly limits: readonly ExplainedLimit[];
}
