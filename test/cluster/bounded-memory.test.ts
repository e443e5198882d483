import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { MAX_UNSENT, WorkerHandle } from '../../core/cluster/worker-handle.js';
import { RetiredMetrics } from '../../core/observability/metrics/retired-metrics.js';

describe('memory of a primary process', () => {
  it('keeps the newest counters of exited workers, up to a limit', async () => {
    const retired = new RetiredMetrics(2);
    for (const [worker, module] of ['first', 'second', 'third'].entries()) {
      const values = [{ labels: { module }, value: 1 }];
      const metric = { name: 'calls', help: 'calls', aggregator: 'sum', values };
      retired.observe(worker, [{ ...metric, type: 'counter' }]);
      retired.onExit(worker);
    }
    const [calls] = await retired.read();
    expect(calls?.values.map(({ labels }) => labels['module'])).to.deep.equal(['second', 'third']);
  });

  it('holds a limited number of messages for a worker, which is then killed', () => {
    const signals: string[] = [];
    const unread: (() => void)[] = [];
    const worker = Object.assign(new EventEmitter(), {
      id: 1,
      process: { pid: 1, kill: (signal: string) => signals.push(signal) },
      isConnected: () => true,
      send: (_message: object, onSent: () => void) => unread.push(onSent),
    });
    const handle = new WorkerHandle(worker as unknown as Worker, () => {});
    const send = () => handle.send({ type: 'heartbeat' });
    for (let count = 0; count < MAX_UNSENT; count += 1) send();
    for (const onSent of unread.splice(0, 1)) onSent();
    send();
    expect(signals).to.deep.equal([]);
    send();
    expect(signals).to.deep.equal(['SIGKILL']);
    expect(unread).to.have.length(MAX_UNSENT);
  });
});
