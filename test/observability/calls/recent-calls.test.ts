import { expect } from 'chai';
import { UNCHANGED } from '../../../core/lib/secrets/mask-secrets.js';
import { createPage } from '../../../core/observability/calls/call-page.js';
import { RecentCalls } from '../../../core/observability/calls/recent-calls.js';
import { ANY_CALL, type CallQuery } from '../../../core/operations/status/call-record.js';
import { createKept } from '../../support/observability/completed.js';

const ALL = { ...ANY_CALL, limit: 1000 };

function add(ring: RecentCalls, id: number, body: string | null = null): void {
  const request = Buffer.from(JSON.stringify(body));
  const bodies = { mask: UNCHANGED, captureBytes: 1000, request, response: null };
  ring.add(createKept(id), body === null ? null : bodies);
}

const list = (ring: RecentCalls, query: CallQuery) => createPage(ring.read(query), query.limit);

const idsOf = (ring: RecentCalls, query = {}) =>
  list(ring, { ...ALL, ...query })?.calls.map(({ request_id }) => Number(request_id));

describe('recent calls', () => {
  it('keeps only the last ones', () => {
    const ring = new RecentCalls(4);
    expect(idsOf(ring)).to.deep.equal([]);
    for (let id = 0; id < 10; id += 1) add(ring, id);
    expect(idsOf(ring)).to.deep.equal([9, 8, 7, 6]);
  });

  it('ends a cursor whose calls have been overwritten, without repetition', () => {
    const ring = new RecentCalls(4);
    for (let id = 0; id < 4; id += 1) add(ring, id);
    const page = list(ring, { ...ALL, limit: 2 });
    const cursor = page?.next ?? '';
    add(ring, 4);
    expect(idsOf(ring, { cursor })).to.deep.equal([1]);
    for (let id = 5; id < 9; id += 1) add(ring, id);
    expect(idsOf(ring, { cursor })).to.deep.equal([]);
  });

  it('rejects the cursor of another process', () => {
    const [first, other] = [new RecentCalls(4), new RecentCalls(4)];
    for (let id = 0; id < 3; id += 1) add(first, id);
    const cursor = list(first, { ...ALL, limit: 1 })?.next ?? '';
    expect(list(other, { ...ALL, cursor })).to.equal(null);
  });

  it('removes the oldest bodies beyond their total limit', () => {
    const ring = new RecentCalls(100, 1000);
    for (let id = 0; id < 30; id += 1) add(ring, id, 'x'.repeat(98));
    const captured = list(ring, ALL)?.calls.map((call) => call.captured !== null) ?? [];
    expect(captured.filter(Boolean)).to.have.length(10);
    expect(captured.slice(0, 10)).to.not.include(false);
  });

  it('frees the memory of bodies with their calls', () => {
    const ring = new RecentCalls(4, 1000);
    for (let id = 0; id < 50; id += 1) add(ring, id, id < 25 ? 'x'.repeat(98) : null);
    for (let id = 50; id < 53; id += 1) add(ring, id, 'x'.repeat(298));
    const captured = list(ring, ALL)?.calls.map((call) => call.captured !== null);
    expect(captured).to.deep.equal([true, true, true, false]);
  });
});
