import { AuthFailures } from '../auth/auth-failures.js';
import type { Log } from '../contract/index.js';
import type { HostProcess, HostView, ProcessParts } from '../host-process.js';
import type { LastGoodKeeper } from '../modules/last-good.js';
import type { Leadership } from '../modules/leadership.js';
import type { StatusSink } from '../modules/status-files.js';
import { createPage } from '../observability/calls/call-page.js';
import {
  type MetricsSnapshot,
  renderSnapshots,
} from '../observability/metrics/metrics-snapshot.js';
import type { Purge } from '../operations/cache/entry-index.js';
import { PurgeBatch } from '../operations/cache/purge-batch.js';
import type { PurgeChannel } from '../operations/cache/purge-channel.js';
import { mergeReports } from '../provider/candidate/candidate-reports.js';
import type { WorkerStart } from './messages.js';
import type { PrimaryChannel } from './primary-channel.js';
import { WorkerAttempts } from './shared-attempts.js';
import { WorkerProbation } from './shared-probation.js';
import { WorkerRates } from './shared-rates.js';

interface WorkerHost extends HostProcess {
  /** The counters of this worker only. */
  readMetrics(): Promise<MetricsSnapshot>;
}

/** The last good versions that a worker reads from the state folder itself. */
type StoredLastGood = Pick<LastGoodKeeper, 'read' | 'identifyFolder'>;

/** The host process of one worker. Its view covers all workers. */
export function createWorkerHost(
  channel: PrimaryChannel,
  { holders, attemptKey }: WorkerStart,
  stored: StoredLastGood,
  requestLog: Log,
): WorkerHost {
  let readMetrics: WorkerHost['readMetrics'] = async () => [];
  return {
    readMetrics: () => readMetrics(),
    holders,
    requestLog,
    leadership: createLeadership(channel),
    sharedProbation: new WorkerProbation(channel),
    authFailures: new AuthFailures(new WorkerAttempts(channel), attemptKey),
    rates: new WorkerRates(channel),
    purges: new WorkerPurges(channel),
    statusSink: relayStatus(channel),
    lastGood: relayLastGood(channel, stored),
    unreadyReason: () => (channel.phase === 'starting' ? 'not all workers have started' : null),
    connect: (parts) => {
      readMetrics = () => parts.metrics.snapshot();
      return connect(channel, parts);
    },
  };
}

function createLeadership(channel: PrimaryChannel): Leadership {
  let leads = false;
  const listeners = new Set<() => void>();
  channel.on('lead', (message) => {
    if (message.leads === leads) return;
    leads = message.leads;
    for (const listener of [...listeners]) listener();
  });
  return {
    get leads() {
      return leads;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function relayStatus(channel: PrimaryChannel): StatusSink {
  return {
    write: (status) => channel.send({ type: 'status', status }),
    remove: (file) => channel.send({ type: 'removed', file }),
    keepOnly: (files) => channel.send({ type: 'files', files }),
    flush: async () => {},
  };
}

/** The primary writes these files, and cleans up when it receives the list of descriptors. */
function relayLastGood(channel: PrimaryChannel, stored: StoredLastGood): LastGoodKeeper {
  return {
    read: (file) => stored.read(file),
    identifyFolder: () => stored.identifyFolder(),
    write: (file, lastGood) => channel.send({ type: 'last-good', file, lastGood }),
    remove: (file) => channel.send({ type: 'last-good', file, lastGood: null }),
    flush: async () => {},
    keepOnly: async () => {},
  };
}

function connect(
  channel: PrimaryChannel,
  { overview, calls, candidates, metrics }: ProcessParts,
): HostView {
  channel.respond('modules', async () => {
    const { modules, ignored } = await overview.read();
    return { modules, ignored };
  });
  channel.respond('calls', ({ query, until }) => calls.read(query, until));
  channel.respond('candidate', (module) => candidates.read(module));
  channel.respond('metrics', () => metrics.snapshot());
  return {
    overview: {
      read: async () => {
        const list = await channel.query('modules', null);
        if (list.modules.length > 0) return list;
        // No worker has responded in time, or there are no modules.
        return { ...(await overview.read()), workers: Math.max(1, list.workers) };
      },
    },
    calls: {
      list: async (query) => {
        // The common end of the page, because workers respond at different times.
        const until = Date.now();
        const parts = await channel.query('calls', { query, until });
        // Empty when no worker has responded in time.
        const read = parts.length === 0 ? calls.read(query, until) : parts;
        const knownParts = read.filter(({ isKnown }) => isKnown);
        return knownParts.length === 0 ? null : createPage(knownParts, query.limit);
      },
    },
    candidates: {
      read: async (module) => {
        const reports = await channel.query('candidate', module);
        // Empty when no worker has responded in time.
        return reports.length === 0 ? candidates.read(module) : mergeReports(reports);
      },
    },
    metrics: {
      contentType: metrics.contentType,
      render: async () => {
        const { snapshots, retired } = await channel.query('metrics', null);
        return renderSnapshots([...snapshots, metrics.forgetRemoved(retired)]);
      },
    },
  };
}

/** Announces purges to the other workers, and receives theirs. */
class WorkerPurges implements PurgeChannel {
  readonly #channel: PrimaryChannel;
  readonly #batch: PurgeBatch;

  constructor(channel: PrimaryChannel) {
    this.#channel = channel;
    this.#batch = new PurgeBatch((purges) => channel.send({ type: 'purge', purges }));
  }

  announce(purge: Purge): void {
    this.#batch.add(purge);
  }

  onPurge(listener: (purge: Purge) => void): void {
    this.#channel.on('purge', ({ purges }) => {
      for (const purge of purges) listener(purge);
    });
  }
}
