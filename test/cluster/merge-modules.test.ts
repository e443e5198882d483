import { expect } from 'chai';
import type { ModuleState } from '../../core/modules/module-record.js';
import { createPage } from '../../core/observability/calls/call-page.js';
import { RecentCalls } from '../../core/observability/calls/recent-calls.js';
import { ANY_CALL, type CallPage } from '../../core/operations/status/call-record.js';
import { mergeModules } from '../../core/operations/status/merge-modules.js';
import { mergeStatus } from '../../core/operations/status/merge-status.js';
import type { EndpointEntry, ModuleEntry } from '../../core/operations/status/module-overview.js';
import { createKept } from '../support/observability/completed.js';

const TIMES = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'] as const;

describe('mergeStatus', () => {
  const status = (state: ModuleState, config_digest: string | null, since: string = TIMES[0]) => ({
    state,
    config_digest,
    file_digest: config_digest,
    since,
    reason: state === 'live' ? null : `is ${state}`,
    hint: null,
  });
  const merge = (...entries: readonly (ReturnType<typeof status> | null)[]) =>
    mergeStatus(entries.map((entry, index) => ({ worker: index + 1, entry })));

  it('is live when all serve the same version, since the time of the last one', () => {
    const merged = merge(status('live', 'a', TIMES[0]), status('live', 'a', TIMES[1]));
    expect(merged).to.deep.equal(status('live', 'a', TIMES[1]));
  });

  it('is waiting when one serves another version, or none yet', () => {
    for (const other of [status('live', 'b'), null]) {
      const merged = merge(status('live', 'a'), other);
      expect(merged).to.include({
        state: 'waiting',
        reason: '1 of 2 workers serve this version',
      });
      expect(merged).to.have.property('workers').with.length(2);
    }
  });

  it('is the worst state of all workers', () => {
    const order: readonly ModuleState[] = ['live', 'waiting', 'rolled_back', 'stale', 'refused'];
    for (const [index, state] of order.entries()) {
      for (const better of order.slice(0, index)) {
        expect(merge(status(better, 'a'), status(state, 'a'))).to.include(status(state, 'a'));
        expect(merge(status(state, 'a'), status(better, 'a'))).to.include(status(state, 'a'));
      }
    }
  });

  it('is null when no worker has the descriptor', () => {
    expect(merge(null, null)).to.equal(null);
  });
});

describe('mergeModules', () => {
  type Routes = EndpointEntry['routes'];
  const GET_A = { route: 'GET /a', state: 'open', until: TIMES[1] } as const;

  const mergeRoutes = (...workers: readonly Routes[]) => {
    const reports = workers.map((routes, worker) => {
      const endpoint = { endpoint: 'e', state: 'up', in_flight: 0, calls: 0, failures: 0 };
      const entry = {
        name: 'm',
        file: 'm.yaml',
        state: 'live',
        counts: { calls: 0, failed: 0, in_flight: 0, queued: 0 },
        endpoints: [{ ...endpoint, until: null, routes }],
      } as unknown as ModuleEntry;
      return { worker, modules: [entry], ignored: [] };
    });
    return mergeModules(reports, () => null).modules[0]?.endpoints[0]?.routes;
  };

  it('lists a route whose breaker is open in every worker, with the earliest time', () => {
    const later = { ...GET_A, until: TIMES[1] };
    const earlier = { ...GET_A, until: TIMES[0] };
    expect(mergeRoutes([later], [earlier])).to.deep.equal([earlier]);
  });

  it('lists a route as half-open when one worker admits a probe', () => {
    const halfOpen = { ...GET_A, state: 'half_open', until: null } as const;
    expect(mergeRoutes([GET_A], [halfOpen])).to.deep.equal([halfOpen]);
  });

  it('does not list a route whose breaker is closed in a worker', () => {
    expect(mergeRoutes([GET_A], [])).to.deep.equal([]);
  });
});

describe('a page of calls from several workers', () => {
  const all = { ...ANY_CALL, limit: 3 };

  it('holds each call once, newest first, across any number of pages', () => {
    const buffers = [new RecentCalls(100), new RecentCalls(100), new RecentCalls(100)];
    const expected: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      expected.unshift(`call-${count}`);
      addCall(buffers[count % 2], `call-${count}`);
    }
    const collected: string[] = [];
    let cursor: string | null = null;
    do {
      const parts = buffers.flatMap((buffer) => buffer.read({ ...all, cursor }));
      const page: CallPage | null = createPage(parts, all.limit);
      collected.push(...(page?.calls ?? []).map(({ request_id }) => request_id));
      cursor = page?.next ?? null;
      // Calls that end meanwhile do not appear on later pages.
      if (cursor !== null) addCall(buffers[2], 'late');
    } while (cursor !== null);
    expect(collected).to.have.members(expected);
    expect(collected).to.have.length(expected.length);
  });

  function addCall(buffer: RecentCalls | undefined, requestId: string): void {
    buffer?.add({ ...createKept(0), request_id: requestId }, null);
  }
});
