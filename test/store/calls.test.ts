import { expect } from 'chai';
import { ANY_CALL } from '../../core/operations/status/call-record.js';
import type { CallFilter, StoredCall } from '../../core/store/call-log.js';
import type { Store } from '../../core/store/store.js';
import { createStored } from '../support/observability/completed.js';
import { BACKENDS, useBackend } from './backend.js';

const NOON = Date.parse('2026-01-31T12:00:00.000Z');
const ALL: CallFilter = {
  ...ANY_CALL,
  beforeId: null,
  limit: 1000,
};

const createCall = (number: number, overrides: Partial<StoredCall> = {}) =>
  createStored(number, NOON + number, overrides);

for (const kind of BACKENDS) {
  describe(`calls in ${kind.name}`, () => {
    const backend = useBackend(kind);
    let store: Store;

    beforeEach(async () => {
      store = await backend.open();
    });

    const add = (count: number, from = 0) =>
      store.calls.append(Array.from({ length: count }, (_, index) => createCall(from + index)));
    const read = async (filter: Partial<CallFilter> = {}) =>
      (await store.calls.read({ ...ALL, ...filter })).map(({ request_id }) => request_id);

    it('are returned unchanged, newest first', async () => {
      const whole = createCall(2, {
        trace_id: 'a'.repeat(32),
        failure: 'timeout',
        failure_detail: 'no response within 5000 ms',
        actor: 'service:crm',
        provider_ms: 0.001,
        endpoint: 'http://127.0.0.1:1',
      });
      const bare = createCall(1, { module: null, route: null });
      await store.calls.append([bare, whole]);
      expect(await store.calls.read(ALL)).to.deep.equal([whole, bare]);
    });

    it('have numbers of more than 32 bits', async () => {
      const long = { bytes_in: 2.2e9, bytes_out: 1e15, frames_in: 2 ** 32, frames_out: 2 ** 31 };
      const call = createCall(1, { ...long, attempts: 2 ** 33, duration_ms: 1e12 });
      await store.calls.append([call]);
      expect(await store.calls.read(ALL)).to.deep.equal([call]);
    });

    it('are stored once when they are written twice', async () => {
      await add(60);
      await add(61);
      expect(await read()).to.have.length(61);
    });

    it('are found by module, method, status, time, request id and cursor', async () => {
      await store.calls.append([
        createCall(1),
        createCall(2, { module: 'other' }),
        createCall(3, { status: 502 }),
        createCall(4),
      ]);
      expect(await read({ module: 'shop' })).to.deep.equal(['r4', 'r3', 'r1']);
      expect(await read({ status: [502, 502] })).to.deep.equal(['r3']);
      expect(await read({ status: [200, 499] })).to.deep.equal(['r4', 'r2', 'r1']);
      expect(await read({ since: NOON + 3 })).to.deep.equal(['r4', 'r3']);
      expect(await read({ until: NOON + 3 })).to.deep.equal(['r2', 'r1']);
      expect(await read({ method: 'POST' })).to.deep.equal([]);
      expect(await read({ request_id: 'r2' })).to.deep.equal(['r2']);
      expect(await read({ request_id: 'r' })).to.deep.equal([]);
      expect(await read({ beforeId: createCall(3).id, limit: 1 })).to.deep.equal(['r2']);
      expect(
        await read({
          module: 'shop',
          status: [200, 299],
          since: NOON + 2,
          beforeId: createCall(9).id,
        }),
      ).to.deep.equal(['r4']);
    });

    it('are removed beyond a maximum, oldest first, also when there are many', async () => {
      await add(1300);
      await store.calls.prune({ maxCalls: 7, since: 0 });
      expect(await read()).to.deep.equal(
        [1299, 1298, 1297, 1296, 1295, 1294, 1293].map((n) => `r${n}`),
      );
      await store.calls.prune({ maxCalls: 7, since: 0 });
      expect(await read()).to.have.length(7);
    });

    it('take at most a tenth without an actor, and displace no others beyond it', async () => {
      const calls = Array.from({ length: 200 }, (_, index) =>
        createCall(index, { actor: index < 90 ? 'service:crm' : null }),
      );
      await store.calls.append(calls);
      await store.calls.prune({ maxCalls: 100, since: 0 });
      await store.calls.prune({ maxCalls: 100, since: 0 });
      const left = await store.calls.read(ALL);
      expect(left.filter(({ actor }) => actor === null)).to.have.length(10);
      expect(left.filter(({ actor }) => actor !== null)).to.have.length(90);
    });

    it('are removed when they are old', async () => {
      await add(10);
      await store.calls.prune({ maxCalls: null, since: NOON + 8 });
      expect(await read()).to.deep.equal(['r9', 'r8']);
      await store.calls.prune({ maxCalls: 100, since: NOON + 9 });
      expect(await read()).to.deep.equal(['r9']);
    });

    it('are read without the members that a newer modgate has added', async () => {
      const { query } = await backend.openDatabase();
      await query.schema.alterTable('call_record').addColumn('later', 'text').execute();
      await store.calls.append([createCall(1)]);
      expect(await store.calls.read(ALL)).to.deep.equal([createCall(1)]);
    });

    it('outlive the process', async () => {
      await add(3);
      await store.close();
      store = await backend.open();
      expect(await read()).to.have.length(3);
    });
  });
}
