import { randomBytes } from 'node:crypto';
import { AttemptCounts } from './auth/attempt-counts.js';
import { ATTEMPT_KEY_BYTES, AuthFailures } from './auth/auth-failures.js';
import { readModulesFolder } from './config/modules-folder.js';
import type { HostConfig } from './config/read-config.js';
import type { Log } from './contract/index.js';
import { LastGoodStore } from './modules/last-good.js';
import { SOLE_PROCESS } from './modules/leadership.js';
import type { ModuleRegistryOptions } from './modules/module-registry.js';
import { StatusFiles } from './modules/status-files.js';
import type { RecentCalls } from './observability/calls/recent-calls.js';
import type { Metrics } from './observability/metrics/metrics.js';
import { type PurgeChannel, SOLE_PURGES } from './operations/cache/purge-channel.js';
import type { CallRecords } from './operations/status/call-record.js';
import type { ModuleOverview } from './operations/status/module-overview.js';
import type { Candidates } from './operations/status/read-candidate.js';
import type { MetricsSource } from './operations/status/read-metrics.js';
import type { CandidateReports } from './provider/candidate/candidate-reports.js';
import { LocalRates, type RateLimiters } from './provider/rate-limiter.js';

/** The reports of one process. */
export interface ProcessParts {
  readonly overview: ModuleOverview;
  readonly calls: RecentCalls;
  readonly candidates: Pick<CandidateReports, 'read'>;
  readonly metrics: Metrics;
}

/** The data that clients see: that of the whole host. */
export interface HostView {
  readonly overview: ModuleOverview;
  readonly calls: CallRecords;
  readonly candidates: Candidates;
  readonly metrics: MetricsSource;
}

/** The differences between a single-process host and a worker of a multi-process host. */
export interface HostProcess
  extends Pick<
    ModuleRegistryOptions,
    'leadership' | 'sharedProbation' | 'statusSink' | 'lastGood' | 'holders'
  > {
  /** Writes request lines, which have only the fields of the specification. */
  readonly requestLog: Log;
  /** Counts for `--auth-failures`, over all processes. */
  readonly authFailures: AuthFailures;
  /** Creates rate limits that hold over all processes. */
  readonly rates: RateLimiters;
  /** Forwards purges of cached responses between the processes. */
  readonly purges: PurgeChannel;
  /** The reason why other processes make the host not ready; `null` if they do not. */
  unreadyReason(): string | null;
  /** Called once, before the process listens. */
  connect(parts: ProcessParts): HostView;
}

/** A single-process host writes all files and reports only itself. */
export function createSoleProcess(config: HostConfig, log: Log): HostProcess {
  return {
    requestLog: log,
    leadership: SOLE_PROCESS,
    statusSink: createStatusFiles(config, log),
    lastGood: new LastGoodStore(config.state, log),
    authFailures: new AuthFailures(
      new AttemptCounts(config.authFailures),
      randomBytes(ATTEMPT_KEY_BYTES),
    ),
    rates: new LocalRates(),
    purges: SOLE_PURGES,
    unreadyReason: () => null,
    connect: ({ overview, calls, candidates, metrics }) => ({
      overview,
      calls: { list: async (query) => calls.list(query) },
      candidates: { read: async (module) => candidates.read(module) },
      metrics,
    }),
  };
}

/** Returns `null` when they are disabled. */
export function createStatusFiles(config: HostConfig, log: Log): StatusFiles | null {
  return config.statusFiles === 'on' ? new StatusFiles(readModulesFolder(config), log) : null;
}
