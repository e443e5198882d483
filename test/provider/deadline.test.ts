import { expect } from 'chai';
import { ProviderFailure } from '../../core/contract/index.js';
import { LazyAbortController } from '../../core/lib/lazy-abort-controller.js';
import { Deadline } from '../../core/provider/deadline.js';

describe('deadline', () => {
  const open: Deadline[] = [];
  const createDeadline = (timeoutMs = 5000): Deadline => {
    const deadline = new Deadline(timeoutMs, new LazyAbortController());
    open.push(deadline);
    return deadline;
  };
  afterEach(() => {
    for (const deadline of open.splice(0)) deadline.end();
  });

  it('resolves work that ends in the turn in which the client disconnects', async () => {
    const deadline = createDeadline();
    const race = deadline.race(Promise.resolve('done'));
    await afterPromises();
    deadline.handleEvent();
    expect(await race).to.equal('done');
  });

  it('rejects work that has not ended when the time is over', async () => {
    const failure: unknown = await createDeadline(10)
      .race(new Promise(() => {}))
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(ProviderFailure);
    expect(failure).to.include({ failure: 'timeout' });
  });

  it('rejects with the failure of the work when that comes before the abort', async () => {
    const deadline = createDeadline();
    const failure = new ProviderFailure('protocol', 'cut short');
    const race = deadline.race(Promise.reject(failure)).catch((error) => error);
    deadline.handleEvent();
    expect(await race).to.equal(failure);
  });
});

/** Resolves after everything that waits for settled promises has run. */
async function afterPromises(): Promise<void> {
  await null;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
