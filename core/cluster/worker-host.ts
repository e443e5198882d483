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
import type { WorkerStart } from './messages.js';
import type { PrimaryChannel } from './primary-channel.js';
import { WorkerProbation } from './shared-probation.js';

interface WorkerHost extends HostProcess {
  /** What this worker alone has counted. */
  readMetrics(): Promise<MetricsSnapshot>;
}

/** The host process that is one of several workers: what it shows is of all of them. */
export function createWorkerHost(
  link: PrimaryChannel,
  { holders }: WorkerStart,
  readLastGood: LastGoodKeeper['read'],
  requestLog: Log,
): WorkerHost {
  let readMetrics: WorkerHost['readMetrics'] = async () => [];
  return {
    readMetrics: () => readMetrics(),
    holders,
    requestLog,
    leadership: createLeadership(link),
    sharedProbation: new WorkerProbation(link),
    statusSink: relayStatus(link),
    lastGood: relayLastGood(link, readLastGood),
    unreadyReason: () => (link.phase === 'starting' ? 'not all workers have started' : null),
    connect: (parts) => {
      readMetrics = () => parts.metrics.snapshot();
      return connect(link, parts);
    },
  };
}

function createLeadership(link: PrimaryChannel): Leadership {
  let leads = false;
  const listeners = new Set<() => void>();
  link.on('lead', (message) => {
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

function relayStatus(link: PrimaryChannel): StatusSink {
  return {
    write: (status) => link.send({ type: 'status', status }),
    remove: (file) => link.send({ type: 'removed', file }),
    keepOnly: (files) => link.send({ type: 'files', files }),
    flush: async () => {},
  };
}

/** The primary writes; it cleans up when it hears of the files, as it does for their status. */
function relayLastGood(link: PrimaryChannel, read: LastGoodKeeper['read']): LastGoodKeeper {
  return {
    read,
    write: (file, lastGood) => link.send({ type: 'last-good', file, lastGood }),
    remove: (file) => link.send({ type: 'last-good', file, lastGood: null }),
    flush: async () => {},
    keepOnly: async () => {},
  };
}

function connect(link: PrimaryChannel, { overview, calls, metrics }: ProcessParts): HostView {
  link.respond('modules', async () => {
    const { modules, ignored } = await overview.read();
    return { modules, ignored };
  });
  link.respond('calls', ({ query, until }) => calls.read(query, until));
  link.respond('metrics', () => metrics.snapshot());
  return {
    overview: { read: () => link.request('modules', null) },
    calls: {
      list: async (query) => {
        // What ends after this moment is for the next look: workers are asked one after the other.
        const parts = await link.request('calls', { query, until: Date.now() });
        const known = parts.filter(({ isKnown }) => isKnown);
        return known.length === 0 ? null : createPage(known, query.limit);
      },
    },
    metrics: {
      contentType: metrics.contentType,
      render: async () => {
        const { snapshots, departed } = await link.request('metrics', null);
        return renderSnapshots([...snapshots, metrics.forgetRemoved(departed)]);
      },
    },
  };
}
