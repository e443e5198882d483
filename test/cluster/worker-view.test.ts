import { expect } from 'chai';
import type { PrimaryChannel } from '../../core/cluster/primary-channel.js';
import { createWorkerHost } from '../../core/cluster/worker-host.js';
import type { Log } from '../../core/contract/index.js';
import type { ProcessParts } from '../../core/host-process.js';
import { RecentCalls } from '../../core/observability/calls/recent-calls.js';
import { ANY_CALL } from '../../core/operations/status/call-record.js';

/** The response of the primary when no worker responds in time. */
const EMPTY = { modules: { modules: [], ignored: [], workers: 2 }, calls: [] };

describe('the view of a worker when no worker responds in time', () => {
  const channel = {
    on: () => {},
    send: () => {},
    respond: () => {},
    query: async (subject: keyof typeof EMPTY) => EMPTY[subject],
  } as unknown as PrimaryChannel;
  const ownView = { modules: [{ name: 'crm' }], ignored: [{ file: 'x', reason: 'y' }], workers: 1 };
  const parts = {
    overview: { read: async () => ownView },
    calls: new RecentCalls(1),
    metrics: {},
  } as unknown as ProcessParts;
  const start = { holders: new Map() } as unknown as Parameters<typeof createWorkerHost>[1];
  const stored = { read: async () => null, identifyFolder: async () => null };
  const host = createWorkerHost(channel, start, stored, {} as Log);
  const view = host.connect(parts);

  it('has the modules of this worker', async () => {
    expect(await view.overview.read()).to.deep.equal({ ...ownView, workers: 2 });
  });

  it('has the calls of this worker', async () => {
    const page = await view.calls.list({ ...ANY_CALL, limit: 1 });
    expect(page).to.deep.equal({ calls: [], next: null });
  });
});
