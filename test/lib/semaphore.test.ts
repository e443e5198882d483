import { expect } from 'chai';
import { QueueFull, Semaphore } from '../../core/contract/semaphore.js';

const NEVER = new AbortController().signal;

/** Tasks that end when they are released, and the order in which they started. */
function createTasks(semaphore: Semaphore, signal = NEVER) {
  const started: string[] = [];
  const releases: (() => void)[] = [];
  const run = (name: string, share = '') =>
    semaphore
      .run(
        () => {
          started.push(name);
          return new Promise<string>((resolve) => releases.push(() => resolve(name)));
        },
        { signal, share },
      )
      .catch((error: unknown) => error);
  const release = async () => {
    for (let next = releases.shift(); next !== undefined; next = releases.shift()) {
      next();
      // Lets the next task start.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { run, release, started };
}

describe('semaphore', () => {
  it('starts waiting tasks in order', async () => {
    const { run, release, started } = createTasks(new Semaphore(1, 3));
    const tasks = ['a', 'b', 'c', 'd'].map((name) => run(name));
    expect(started).to.deep.equal(['a']);
    await release();
    expect(await Promise.all(tasks)).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(started).to.deep.equal(['a', 'b', 'c', 'd']);
  });

  it('rejects a task when its queue is full', async () => {
    const { run, release } = createTasks(new Semaphore(1, 1));
    const tasks = [run('a'), run('b')];
    expect(await run('c')).to.be.instanceOf(QueueFull);
    await release();
    expect(await Promise.all(tasks)).to.deep.equal(['a', 'b']);
  });

  it('rejects a waiting task when its signal is aborted, and runs the others', async () => {
    const semaphore = new Semaphore(1, 2);
    const controller = new AbortController();
    const { run, release } = createTasks(semaphore);
    const running = run('a');
    const aborted = createTasks(semaphore, controller.signal).run('b');
    controller.abort();
    expect(await aborted).to.be.instanceOf(QueueFull);
    const waiting = run('c');
    await release();
    expect(await Promise.all([running, waiting])).to.deep.equal(['a', 'c']);
  });

  it('assigns its places one by one', () => {
    const semaphore = new Semaphore(2, 3);
    const acquired = [1, 2, 3].map(() => semaphore.tryAcquire());
    expect(acquired).to.deep.equal([true, true, false]);
    semaphore.release();
    expect(semaphore.running).to.equal(1);
    expect(semaphore.tryAcquire()).to.equal(true);
  });

  it('passes a place to a waiting task before a new one', async () => {
    const semaphore = new Semaphore(1, 3);
    semaphore.tryAcquire();
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (task) => {
      await semaphore.acquire({ signal: NEVER, timeoutMs: 5000 });
      order.push(task);
      semaphore.release();
    });
    expect(semaphore.waiting).to.equal(3);
    semaphore.release();
    expect(semaphore.tryAcquire()).to.equal(false);
    await Promise.all(waiting);
    expect(order).to.deep.equal([1, 2, 3]);
    expect(semaphore).to.include({ running: 0, waiting: 0 });
  });

  it('rejects a task that waits too long, and keeps the place for the next', async () => {
    const semaphore = new Semaphore(1, 3);
    semaphore.tryAcquire();
    const from = performance.now();
    const error = await semaphore
      .acquire({ signal: NEVER, timeoutMs: 20 })
      .catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(QueueFull);
    expect(performance.now() - from).to.be.at.least(18);
    expect(semaphore).to.include({ running: 1, waiting: 0 });
    semaphore.release();
    expect(semaphore.tryAcquire()).to.equal(true);
  });

  it('does not queue a task whose signal is aborted', async () => {
    const semaphore = new Semaphore(1, 3);
    semaphore.tryAcquire();
    const acquiring = semaphore.acquire({ signal: AbortSignal.abort() });
    expect(await acquiring.catch((reason: unknown) => reason)).to.be.instanceOf(QueueFull);
    expect(semaphore.waiting).to.equal(0);
  });

  it('lets shares take turns', async () => {
    const { run, release, started } = createTasks(new Semaphore(1, 10));
    const tasks = [run('first')];
    for (const name of ['a1', 'a2', 'a3']) tasks.push(run(name, 'a'));
    for (const name of ['b1', 'b2']) tasks.push(run(name, 'b'));
    await release();
    await Promise.all(tasks);
    expect(started).to.deep.equal(['first', 'a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('evicts tasks from a full queue only from the largest share', async () => {
    const { run, release } = createTasks(new Semaphore(1, 4));
    const tasks = [run('first')];
    for (const name of ['a1', 'a2', 'a3', 'a4']) tasks.push(run(name, 'a'));
    tasks.push(run('b1', 'b'), run('b2', 'b'), run('b3', 'b'));
    await release();
    const outcomes = await Promise.all(tasks);
    const names = outcomes.map((outcome) => (outcome instanceof QueueFull ? 'full' : outcome));
    expect(names).to.deep.equal(['first', 'a1', 'a2', 'full', 'full', 'b1', 'b2', 'full']);
  });

  it('starts tasks again after a task has failed', async () => {
    const semaphore = new Semaphore(1, 0);
    const failing = semaphore.run(() => Promise.reject(new Error('failed')), { signal: NEVER });
    expect(await failing.catch((error: Error) => error.message)).to.equal('failed');
    expect(await semaphore.run(async () => 'done', { signal: NEVER })).to.equal('done');
  });
});
