import { expect } from 'chai';
import type { Log } from '../../../core/contract/index.js';
import { createPage } from '../../../core/observability/calls/call-page.js';
import { StoredCalls } from '../../../core/observability/calls/stored-calls.js';
import { createObservability } from '../../../core/observability/observability.js';
import { ANY_CALL } from '../../../core/operations/status/call-record.js';
import type { CallBounds, StoredCall } from '../../../core/store/call-log.js';
import { StoreUnavailable } from '../../../core/store/store-unavailable.js';
import { silent } from '../../store/backend.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { createEnded, createKept } from '../../support/observability/completed.js';

const MS_PER_HOUR = 3_600_000;
const QUERY = { ...ANY_CALL, limit: 1000 };

/** A store that can be unavailable or reject calls. */
function createStore() {
  const store = {
    batches: [] as (readonly StoredCall[])[],
    prunes: [] as CallBounds[],
    failure: null as Error | null,
    append: async (calls: readonly StoredCall[]) => {
      if (store.failure !== null) throw store.failure;
      store.batches.push([...calls]);
    },
    now: async () => Date.now(),
    read: async () => store.batches.flat().toReversed(),
    prune: async (bounds: CallBounds) => {
      store.prunes.push(bounds);
    },
  };
  return store;
}

describe('stored calls', () => {
  const archives: StoredCalls[] = [];
  const open = (store: ReturnType<typeof createStore>, maxCalls = 1000, log: Log = silent) => {
    const archive = new StoredCalls({ store, maxCalls, maxHours: 2, log });
    archives.push(archive);
    return archive;
  };
  const idsOf = (calls: readonly StoredCall[]) => calls.map(({ request_id }) => Number(request_id));

  afterEach(async () => {
    for (const archive of archives.splice(0)) await archive.close();
  });

  it('are read by at most 256 requests at a time', async () => {
    const archive = open(createStore());
    const reads = Array.from({ length: 256 }, () => archive.list(QUERY));
    const rejection = await archive.list(QUERY).catch((error: unknown) => error);
    expect(rejection).to.be.instanceOf(StoreUnavailable).and.include({ code: 'busy' });
    await Promise.all(reads);
    expect((await archive.list(QUERY))?.calls).to.deep.equal([]);
  });

  it('are written in the background, in batches, in order', async () => {
    const store = createStore();
    const archive = open(store);
    for (let id = 0; id < 250; id += 1) archive.add(createKept(id));
    expect(store.batches).to.have.length(0);
    await waitUntil('the batches', () => store.batches.flat().length === 250);
    expect(store.batches.map(({ length }) => length)).to.deep.equal([100, 100, 50]);
    expect(idsOf(store.batches.flat())).to.deep.equal([...Array(250).keys()]);
    const ids = store.batches.flat().map(({ id }) => id);
    expect(ids).to.deep.equal(ids.toSorted());
  });

  it('omits other requests', async () => {
    const store = createStore();
    const archive = open(store);
    const host = {
      list: () => [],
      rejectedActors: () => 0,
      reloads: { success: 0, failure: 0, lastAt: new Date() },
    };
    const { observe, calls } = createObservability(host, archive);
    const ended = createEnded(1);
    ended.facts.kind = null;
    observe(ended);
    observe(createEnded(2));
    expect(createPage(calls.read(QUERY), QUERY.limit)?.calls).to.have.length(1);
    await archive.close();
    expect(idsOf(store.batches.flat())).to.deep.equal([2]);
  });

  it('are complete when they are read', async () => {
    const store = createStore();
    const archive = open(store);
    archive.add(createKept(1));
    const page = await archive.list(QUERY);
    expect(page?.calls.map(({ request_id }) => request_id)).to.deep.equal(['1']);
  });

  it('are written once when the store is available again', async () => {
    const store = createStore();
    const archive = open(store);
    store.failure = new StoreUnavailable('locked');
    for (let id = 0; id < 150; id += 1) archive.add(createKept(id));
    const failure = await archive.list(QUERY).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(StoreUnavailable);
    store.failure = null;
    await waitUntil('all', () => store.batches.flat().length >= 150);
    expect(idsOf(store.batches.flat())).to.deep.equal([...Array(150).keys()]);
  });

  for (const failure of [new TypeError('no'), new StoreUnavailable('inconsistent')]) {
    it(`are written without those that the store rejects, which are counted in the log: ${failure.name}`, async () => {
      const errors: object[] = [];
      const store = createStore();
      const log = { ...silent, error: (fields: object) => errors.push(fields) };
      const archive = open(store, 1000, log as unknown as Log);
      const { append } = store;
      store.append = async (calls) => {
        if (idsOf(calls).some((id) => id % 50 === 7)) throw failure;
        await append(calls);
      };
      for (let id = 0; id < 250; id += 1) archive.add(createKept(id));
      await waitUntil('the line', () => errors.length > 0);
      expect(errors).to.deep.equal([{ err: failure, lost: 5 }]);
      const others = [...Array(250).keys()].filter((id) => id % 50 !== 7);
      expect(idsOf(store.batches.flat())).to.deep.equal(others);
      archive.add(createKept(1000));
      await waitUntil('the next', () => store.batches.flat().length > 245);
    });
  }

  it('are kept when the store becomes unavailable while it rejects one', async () => {
    const store = createStore();
    const archive = open(store);
    const { append } = store;
    let isDown = true;
    store.append = async (calls) => {
      if (idsOf(calls).includes(1)) throw new TypeError('no');
      if (isDown && idsOf(calls).includes(2)) throw new StoreUnavailable('unreachable');
      await append(calls);
    };
    for (const id of [0, 1, 2]) archive.add(createKept(id));
    const unavailable = await archive.list(QUERY).catch((error: unknown) => error);
    expect(unavailable).to.be.instanceOf(StoreUnavailable);
    isDown = false;
    await archive.list(QUERY);
    // The store itself ignores a call that it already has.
    expect(idsOf(store.batches.flat())).to.deep.equal([0, 0, 2]);
  });

  it('wait up to 20,000, and the dropped ones are counted in the log', async () => {
    const warnings: object[] = [];
    const store = createStore();
    const log = { ...silent, warn: (fields: object) => warnings.push(fields) };
    const archive = open(store, 1000, log as unknown as Log);
    store.failure = new StoreUnavailable('locked');
    for (let id = 0; id < 20_300; id += 1) archive.add(createKept(id));
    await waitUntil('the warning', () => warnings.length > 0);
    const reason = 'the store is locked by another process';
    expect(warnings).to.deep.equal([{ reason, waiting: 20_000, lost: 300 }]);
    store.failure = null;
    await archive.close();
    expect(store.batches.flat()).to.have.length(20_000);
  });

  it('are removed beyond their bounds: by count at the start and after a tenth more', async () => {
    const store = createStore();
    const archive = open(store, 2000);
    const before = Date.now();
    archive.add(createKept(0));
    await waitUntil('the first', () => store.prunes.length === 1);
    expect(store.prunes[0]?.maxCalls).to.equal(2000);
    expect(store.prunes[0]?.since).to.be.within(
      before - 2 * MS_PER_HOUR,
      Date.now() - 2 * MS_PER_HOUR,
    );
    for (let id = 0; id < 199; id += 1) archive.add(createKept(id));
    await waitUntil('the batch', () => store.batches.flat().length === 200);
    archive.add(createKept(200));
    await waitUntil('the next', () => store.prunes.length === 2);
    expect(store.batches.flat()).to.have.length.within(200, 201);
  });

  it('are closed in time with a store that hangs, and counted in the log', async () => {
    const store = createStore();
    const warnings: object[] = [];
    const log = { ...silent, warn: (fields: object) => warnings.push(fields) };
    const archive = open(store, 1000, log as unknown as Log);
    store.append = () => new Promise(() => {});
    archive.add(createKept(1));
    await archive.close();
    expect(store.batches).to.have.length(0);
    expect(warnings).to.deep.equal([{ reason: 'the host stops', lost: 1 }]);
    archives.length = 0;
  });
});
