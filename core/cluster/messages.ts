import type { AttemptOutcome } from '../auth/attempt-counts.js';
import type { OpenSurfaces } from '../compose.js';
import type { ReadConfig } from '../config/read-config.js';
import type { HostConfig } from '../config/settings.js';
import type { BucketLimits } from '../lib/token-buckets.js';
import type { LastGood } from '../modules/last-good.js';
import type { ProbationFigures, RejectedVersion } from '../modules/probation.js';
import type { FileStatus } from '../modules/status-files.js';
import type { CallPart } from '../observability/calls/call-page.js';
import type { MetricsSnapshot } from '../observability/metrics/metrics-snapshot.js';
import type { Purge } from '../operations/cache/entry-index.js';
import type { CallQuery } from '../operations/status/call-record.js';
import type { ModuleList } from '../operations/status/module-overview.js';
import type { CandidateReport } from '../provider/candidate/candidate-reports.js';
import type { TokenGrant } from '../provider/drawn-tokens.js';

export type ServeSettings = ReadConfig<keyof HostConfig>;

/** The phase of the whole host, in all of its processes. */
export type HostPhase = 'starting' | 'serving' | 'draining';

/** The data with which a worker starts. */
export interface WorkerStart {
  /** The settings as read by the primary, so that a file changed meanwhile cannot make workers differ. */
  readonly settings: ServeSettings;
  /** The number of the worker in the log and in `GET /modules`. */
  readonly worker: number;
  readonly phase: HostPhase;
  /** The key of the hashes of credentials that all workers remember. */
  readonly attemptKey: Uint8Array;
  /** The file that serves each module name and mount. A new worker keeps these assignments. */
  readonly holders: ReadonlyMap<string, string>;
}

/** The queries that a worker sends to all workers, by subject. */
export interface WorkerQuery {
  readonly modules: {
    readonly input: null;
    /** The response of one worker. */
    readonly response: Pick<ModuleList, 'modules' | 'ignored'>;
    /** Merged from the responses of all workers. */
    readonly result: ModuleList;
  };
  readonly calls: {
    readonly input: { readonly query: CallQuery; readonly until: number };
    readonly response: readonly CallPart[];
    readonly result: readonly CallPart[];
  };
  readonly candidate: {
    /** The name of a module. */
    readonly input: string;
    readonly response: CandidateReport;
    readonly result: readonly CandidateReport[];
  };
  readonly metrics: {
    readonly input: null;
    readonly response: MetricsSnapshot;
    readonly result: HostMetrics;
  };
}

interface HostMetrics {
  readonly snapshots: readonly MetricsSnapshot[];
  /** Counters of workers that have exited. */
  readonly retired: MetricsSnapshot;
}

export type QueryKind = keyof WorkerQuery;

/** Requests tokens of a rate limit. */
export interface RateRequest {
  readonly id: number;
  readonly limitId: string;
  readonly limits: BucketLimits;
  readonly key: string;
  /** The number of requests that wait for a token. */
  readonly wanted: number;
}

export interface RateGrant extends TokenGrant {
  /** The id of the request. */
  readonly id: number;
}

/** A purge of one worker, which the others repeat. */
interface Purged {
  readonly type: 'purge';
  readonly purges: readonly Purge[];
}

interface SharedFigures {
  /** The input digest of a version on probation. */
  readonly digest: string;
  readonly figures: ProbationFigures;
}

/** A message from a worker to the primary. */
export type WorkerMessage =
  | { readonly type: 'hello' }
  /** The configuration is invalid, so that no worker can start. */
  | { readonly type: 'misconfigured'; readonly message: string }
  /** The worker has read its modules. */
  | { readonly type: 'ready' }
  | {
      readonly type: 'listening';
      readonly url: string;
      readonly port: number;
      readonly surfaces: OpenSurfaces;
    }
  | { readonly type: 'heartbeat' }
  | { readonly type: 'status'; readonly status: FileStatus }
  | { readonly type: 'removed'; readonly file: string }
  | { readonly type: 'last-good'; readonly file: string; readonly lastGood: LastGood | null }
  | { readonly type: 'files'; readonly files: ReadonlySet<string> }
  | {
      readonly type: 'query';
      readonly id: number;
      readonly subject: QueryKind;
      readonly input: unknown;
    }
  | { readonly type: 'response'; readonly id: number; readonly response: unknown }
  | ({ readonly type: 'probation' } & SharedFigures)
  | { readonly type: 'rejected'; readonly rejected: RejectedVersion }
  /** A credential that no worker is known to have accepted: see `AttemptLedger`. */
  | {
      readonly type: 'attempt';
      readonly id: number;
      readonly network: string;
      readonly credential: string;
    }
  | {
      readonly type: 'attempt-result';
      /** The id of the attempt; `null` for a credential that this worker has accepted before. */
      readonly id: number | null;
      readonly network: string;
      readonly credential: string;
      readonly outcome: AttemptOutcome;
    }
  | { readonly type: 'rate'; readonly request: RateRequest }
  | Purged
  /** Sent last, after the drain. */
  | { readonly type: 'final-metrics'; readonly metrics: MetricsSnapshot };

/** A message from the primary to a worker. */
export type PrimaryMessage =
  | { readonly type: 'start'; readonly start: WorkerStart }
  /** Listen now, on this port. */
  | { readonly type: 'listen'; readonly port: number }
  /** The worker sends it back. */
  | { readonly type: 'heartbeat' }
  | { readonly type: 'phase'; readonly phase: HostPhase }
  | { readonly type: 'lead'; readonly leads: boolean }
  /** `waitMs` is `null` if the attempt may be made. */
  | { readonly type: 'admission'; readonly id: number; readonly waitMs: number | null }
  | { readonly type: 'rate'; readonly grant: RateGrant }
  | { readonly type: 'rescan' }
  /** `isReplaced`: other workers continue to serve, so callers must not notice the drain. */
  | { readonly type: 'drain'; readonly isReplaced: boolean }
  | {
      readonly type: 'request';
      readonly id: number;
      readonly subject: QueryKind;
      readonly input: unknown;
    }
  /** Completes the worker's query of the same id. */
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | Purged
  | ({ readonly type: 'probation'; readonly worker: number } & SharedFigures)
  | { readonly type: 'rejected'; readonly rejected: RejectedVersion };
