import { expect } from 'chai';
import { createLazyStore } from '../../core/store/lazy-store.js';
import { type Store, StoreUnavailable } from '../../core/store/store.js';

describe('lazy store', () => {
  it('rejects operations while too many wait for a slow store', async () => {
    const waiting: (() => void)[] = [];
    const slow = {
      readConfig: () => new Promise((resolve) => waiting.push(() => resolve(new Map()))),
    } as unknown as Store;
    const store = createLazyStore(async () => slow, 3);
    const reads = [1, 2, 3].map(() => store.readConfig('crm'));
    const rejection = await store.readConfig('crm').catch((error: unknown) => error);
    expect(rejection).to.be.instanceOf(StoreUnavailable).and.include({ code: 'busy' });
    await new Promise(setImmediate);
    for (const end of waiting) end();
    await Promise.all(reads);
    const later = store.readConfig('crm');
    await new Promise(setImmediate);
    waiting.at(-1)?.();
    expect(await later).to.deep.equal(new Map());
  });

  it('leaves no rejection behind when it cannot be opened, and is opened again', async () => {
    const cause = new TypeError('injected fault');
    const opened = { readConfig: async () => new Map() } as unknown as Store;
    const results = [() => Promise.reject(cause), async () => opened];
    const store = createLazyStore(async () => (results.shift() as () => Promise<Store>)());
    const unhandled: unknown[] = [];
    const collect = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', collect);
    store.open();
    const rejection = await store.readConfig('crm').catch((error: unknown) => error);
    await new Promise(setImmediate);
    process.off('unhandledRejection', collect);
    expect(rejection).to.be.instanceOf(StoreUnavailable).and.include({ code: 'failed', cause });
    expect(unhandled).to.deep.equal([]);
    expect(await store.readConfig('crm')).to.deep.equal(new Map());
  });
});
