import { expect } from 'chai';
import type { PrimaryChannel } from '../../core/cluster/primary-channel.js';
import { createWorkerProcess } from '../../core/cluster/worker-process.js';
import type { HostConfig } from '../../core/config/settings.js';
import type { Log } from '../../core/contract/index.js';

describe('a worker that asks all workers when none responds in time', () => {
  const channel = {
    on: () => {},
    send: () => {},
    respond: () => {},
    query: async () => ({ answers: [], workers: 2, known: null }),
  } as unknown as PrimaryChannel;
  const start = { services: new Map() } as unknown as Parameters<typeof createWorkerProcess>[1];
  const log = {} as Log;
  const processes = createWorkerProcess(channel, start, log, { config: {} as HostConfig, log });

  it('has its own answer', async () => {
    const askAll = processes.share('doubled', (input: number) => input * 2);
    expect(await askAll(21)).to.deep.equal({
      answers: [{ worker: 0, isServing: true, answer: 42 }],
      workers: 2,
      known: null,
    });
  });
});
