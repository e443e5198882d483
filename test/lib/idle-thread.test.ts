import { expect } from 'chai';
import { IdleThread } from '../../core/lib/idle-thread.js';
import { waitUntil } from '../support/http/wait-until.js';

type Request = 'id' | 'id and exit' | 'exit' | 'throw' | 'loop';

const CODE = `
  import { parentPort, threadId } from 'node:worker_threads';
  parentPort.on('message', (request) => {
    if (request === 'exit') process.exit();
    if (request === 'throw') throw new Error('of the thread');
    while (request === 'loop');
    parentPort.postMessage(threadId);
    if (request === 'id and exit') setImmediate(() => process.exit());
  });
`;

describe('idle thread', () => {
  const open = (more: { idleMs?: number; maxMs?: number } = {}) =>
    new IdleThread<Request, number>({
      entry: new URL(`data:text/javascript,${encodeURIComponent(CODE)}`),
      name: 'tests',
      idleMs: 10_000,
      resourceLimits: {},
      ...more,
    });
  const messageOf = async (answer: Promise<unknown>) => {
    const error = await answer.catch((reason: unknown) => reason);
    return (error as Error).message;
  };

  it('answers one request after another', async () => {
    const thread = open();
    expect(await thread.ask('id')).to.equal(await thread.ask('id'));
  });

  it('rejects the request that ends it, and starts again for the next one', async () => {
    const thread = open({ maxMs: 2000 });
    const first = await thread.ask('id');
    expect(await messageOf(thread.ask('exit'))).to.equal('the thread for tests has ended');
    expect(await messageOf(thread.ask('throw'))).to.equal('of the thread');
    expect(await messageOf(thread.ask('loop'))).to.equal('the thread for tests has ended');
    expect(await thread.ask('id')).to.be.above(first + 2);
  });

  it('starts again after it has ended between two requests', async () => {
    const thread = open();
    const first = await thread.ask('id and exit');
    await waitUntil('another thread', async () => {
      const id = await thread.ask('id').catch(() => first);
      return id !== first;
    });
  });

  it('ends when it is idle', async () => {
    const thread = open({ idleMs: 0 });
    const first = await thread.ask('id');
    // Between two polls it has nothing to do.
    await waitUntil('another thread', async () => (await thread.ask('id')) !== first);
  });
});
