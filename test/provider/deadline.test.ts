import { expect } from 'chai';
import { ProviderFailure } from '../../core/contract/index.js';
import { LazyAbortController } from '../../core/lib/lazy-abort-controller.js';
import { Deadline } from '../../core/provider/deadline.js';

describe('work under a deadline', () => {
  const open: Deadline[] = [];
  const createDeadline = (timeoutMs = 5000): Deadline => {
    const deadline = new Deadline(timeoutMs, new LazyAbortController());
    open.push(deadline);
    return deadline;
  };
  afterEach(() => {
    for (const deadline of open.splice(0)) deadline.end();
  });

  it('is handed on together with what else came in the same turn of the event loop', async () => {
    const heard: number[] = [];
    const races = [1, 2, 3].map(async (work) => {
      await createDeadline().race(Promise.resolve(work));
      heard.push(work);
    });
    await afterPromises();
    expect(heard).to.deep.equal([]);
    await Promise.all(races);
    expect(heard).to.deep.equal([1, 2, 3]);
  });

  it('is timed to its end, not to when it is handed on', async () => {
    const deadline = createDeadline();
    const race = deadline.race(Promise.resolve());
    await afterPromises();
    const wasDone = performance.now();
    while (performance.now() < wasDone + 20);
    await race;
    expect(deadline.workedUntil).to.be.within(wasDone - 20, wasDone);
  });

  it('wins when it ends in the turn in which the caller hangs up', async () => {
    const deadline = createDeadline();
    const race = deadline.race(Promise.resolve('done'));
    await afterPromises();
    deadline.handleEvent();
    expect(await race).to.equal('done');
  });

  it('loses when it ends after the time is over', async () => {
    const deadline = createDeadline(10);
    const late = new Promise<void>((resolve) => setTimeout(resolve, 50));
    const failure = await deadline.race(late).then(
      () => expect.fail(),
      (error) => error,
    );
    expect(failure).to.be.instanceOf(ProviderFailure);
    expect(failure.failure).to.equal('timeout');
    await late;
  });

  it('fails as it fails, if it does so before the abort is told', async () => {
    const deadline = createDeadline();
    const failure = new ProviderFailure('protocol', 'cut short');
    const race = deadline.race(Promise.reject(failure)).catch((error) => error);
    deadline.handleEvent();
    expect(await race).to.equal(failure);
  });
});

/** When all that waits for a promise that is settled has run. */
async function afterPromises(): Promise<void> {
  // From among the promises: what is to be done next by a turn that has just begun goes before them.
  await null;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
