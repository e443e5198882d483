import type { ReadConfig } from '../config/read-config.js';
import type { HostConfig } from '../config/settings.js';
import type { LastGood } from '../modules/last-good.js';
import type { ProbationFigures, RejectedVersion } from '../modules/probation.js';
import type { FileStatus } from '../modules/status-files.js';
import type { CallPart } from '../observability/calls/call-page.js';
import type { MetricsSnapshot } from '../observability/metrics/metrics-snapshot.js';
import type { CallQuery } from '../operations/status/call-record.js';
import type { ModuleList } from '../operations/status/module-list.js';

export type ServeSettings = ReadConfig<keyof HostConfig>;

/** Where the whole host is in its life. */
export type HostPhase = 'starting' | 'serving' | 'draining';

/** What a worker needs before it can begin. */
export interface WorkerStart {
  /** As the primary read them: a file that has changed since must not make workers differ. */
  readonly settings: ServeSettings;
  /** The number in the log and in `GET /modules`. */
  readonly worker: number;
  readonly phase: HostPhase;
  /** By name, the file that serves under it, which keeps it. */
  readonly holders: ReadonlyMap<string, string>;
}

/** What can be asked of all workers: what goes out, what each answers, and what the asker gets. */
export interface WorkerQuery {
  readonly modules: {
    readonly input: null;
    readonly told: Pick<ModuleList, 'modules' | 'ignored'>;
    readonly answer: ModuleList;
  };
  readonly calls: {
    readonly input: { readonly query: CallQuery; readonly until: number };
    readonly told: CallPart;
    readonly answer: readonly CallPart[];
  };
  readonly metrics: {
    readonly input: null;
    readonly told: MetricsSnapshot;
    readonly answer: MetricsOfAll;
  };
}

export interface MetricsOfAll {
  readonly snapshots: readonly MetricsSnapshot[];
  /** What workers had counted that are no more. */
  readonly departed: MetricsSnapshot;
}

export type Subject = keyof WorkerQuery;

export interface SharedFigures {
  /** The input digest of a version on probation. */
  readonly digest: string;
  readonly figures: ProbationFigures;
}

/** From a worker to the primary. */
export type WorkerMessage =
  | { readonly type: 'hello' }
  /** It cannot start, and no other could: what ops have to put right. */
  | { readonly type: 'misconfigured'; readonly message: string }
  /** It has read its modules. */
  | { readonly type: 'ready' }
  | { readonly type: 'listening'; readonly url: string; readonly port: number }
  | { readonly type: 'status'; readonly status: FileStatus }
  | { readonly type: 'removed'; readonly file: string }
  | { readonly type: 'last-good'; readonly file: string; readonly lastGood: LastGood | null }
  | { readonly type: 'files'; readonly files: ReadonlySet<string> }
  | {
      readonly type: 'ask';
      readonly id: number;
      readonly subject: Subject;
      readonly input: unknown;
    }
  | { readonly type: 'told'; readonly id: number; readonly told: unknown }
  | ({ readonly type: 'probation' } & SharedFigures)
  | { readonly type: 'rejected'; readonly rejected: RejectedVersion }
  /** Its last word: what it has counted. */
  | { readonly type: 'farewell'; readonly metrics: MetricsSnapshot };

/** From the primary to a worker. */
export type PrimaryMessage =
  | { readonly type: 'start'; readonly start: WorkerStart }
  /** Listen now, on this port. */
  | { readonly type: 'listen'; readonly port: number }
  | { readonly type: 'phase'; readonly phase: HostPhase }
  | { readonly type: 'lead'; readonly leads: boolean }
  | { readonly type: 'rescan' }
  /** `isReplaced`: others take over, and nobody is to notice. */
  | { readonly type: 'drain'; readonly isReplaced: boolean }
  | {
      readonly type: 'tell';
      readonly id: number;
      readonly subject: Subject;
      readonly input: unknown;
    }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  | ({ readonly type: 'probation'; readonly worker: number } & SharedFigures)
  | { readonly type: 'rejected'; readonly rejected: RejectedVersion };
