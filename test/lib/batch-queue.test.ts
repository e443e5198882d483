import { expect } from 'chai';
import { BatchQueue } from '../../core/lib/batch-queue.js';

const MAX_BATCH = 128;

describe('batch queue', () => {
  const endOfTurn = () => new Promise(setImmediate);

  it('runs all items at the end of the turn, in their order', async () => {
    const done: number[] = [];
    const queue = new BatchQueue<number>((item) => done.push(item));
    for (const item of [1, 2, 3]) queue.add(item);
    expect(done).to.deep.equal([]);
    await endOfTurn();
    expect(done).to.deep.equal([1, 2, 3]);
  });

  it('runs a full batch at once, and no item twice', async () => {
    const done: number[] = [];
    const items = Array.from({ length: MAX_BATCH + 1 }, (_, index) => index);
    const queue = new BatchQueue<number>((item) => done.push(item));
    for (const item of items) queue.add(item);
    expect(done).to.deep.equal(items.slice(0, MAX_BATCH));
    await endOfTurn();
    expect(done).to.deep.equal(items);
  });

  it('runs items that are added meanwhile one turn later', async () => {
    const done: number[] = [];
    const queue: BatchQueue<number> = new BatchQueue((item) => {
      done.push(item);
      if (item < 3) queue.add(item + 1);
    });
    queue.add(1);
    await endOfTurn();
    expect(done).to.deep.equal([1]);
    await endOfTurn();
    expect(done).to.deep.equal([1, 2]);
    await endOfTurn();
    expect(done).to.deep.equal([1, 2, 3]);
  });
});
