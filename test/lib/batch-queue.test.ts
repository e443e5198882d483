import { expect } from 'chai';
import { BatchQueue } from '../../core/lib/batch-queue.js';

describe('what is done at the end of a turn', () => {
  const endOfTurn = () => new Promise(setImmediate);

  it('is done for each, in the order in which they came', async () => {
    const done: number[] = [];
    const queue = new BatchQueue<number>((item) => done.push(item));
    for (const item of [1, 2, 3]) queue.add(item);
    expect(done).to.deep.equal([]);
    await endOfTurn();
    expect(done).to.deep.equal([1, 2, 3]);
  });

  it('is done at once when as many wait as may, and no item twice', async () => {
    const done: number[] = [];
    const queue = new BatchQueue<number>((item) => done.push(item), setImmediate, 2);
    for (const item of [1, 2, 3]) queue.add(item);
    expect(done).to.deep.equal([1, 2]);
    await endOfTurn();
    expect(done).to.deep.equal([1, 2, 3]);
  });

  it('is done one turn later for what comes up meanwhile', async () => {
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
