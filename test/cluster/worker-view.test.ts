import { expect } from 'chai';
import type { PrimaryChannel } from '../../core/cluster/primary-channel.js';
import { createWorkerHost } from '../../core/cluster/worker-host.js';
import type { Log } from '../../core/contract/index.js';
import type { ProcessParts } from '../../core/host-process.js';
import { RecentCallBuffer } from '../../core/observability/calls/recent-calls.js';

/** What the primary answers when no worker responds in time. */
const EMPTY = { modules: { modules: [], ignored: [], workers: 2 }, calls: [] };

describe('the view of a worker when no worker responds in time', () => {
  const channel = {
    on: () => {},
    send: () => {},
    respond: () => {},
    query: async (subject: keyof typeof EMPTY) => EMPTY[subject],
  } as unknown as PrimaryChannel;
  const own = { modules: [{ name: 'crm' }], ignored: [{ file: 'x', reason: 'y' }], workers: 1 };
  const parts = {
    overview: { read: async () => own },
    calls: new RecentCallBuffer(1),
    metrics: {},
  } as unknown as ProcessParts;
  const start = { holders: new Map() } as unknown as Parameters<typeof createWorkerHost>[1];
  const stored = { read: async () => null, identifyFolder: async () => null };
  const host = createWorkerHost(channel, start, stored, {} as Log);
  const view = host.connect(parts);

  it('has the modules of this worker', async () => {
    expect(await view.overview.read()).to.deep.equal({ ...own, workers: 2 });
  });

  it('has the calls of this worker', async () => {
    const filters = { module: null, status: null, since: null, requestId: null };
    const page = await view.calls.list({ ...filters, limit: 1, cursor: null });
    expect(page).to.deep.equal({ calls: [], next: null });
  });
});
