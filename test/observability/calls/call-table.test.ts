import { expect } from 'chai';
import fc from 'fast-check';
import { CallTable } from '../../../core/observability/calls/call-table.js';
import type { CompletedRequest } from '../../../core/observability/completed-request.js';
import { createRequestFacts, type RequestFacts } from '../../../core/operations/request.js';

const CAPACITY = 3;

/** The longest id that a client may choose. */
const id = fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/, { size: 'max' });
const ms = fc.integer({ min: 0, max: 10 ** 9 }).map((us) => us / 1000);
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const facts: fc.Arbitrary<RequestFacts> = fc
  .record({
    module: orNull(fc.string()),
    route: orNull(fc.string()),
    traceId: orNull(fc.stringMatching(/^[0-9a-f]{32}$/)),
    providerMs: orNull(ms),
    attempts: fc.nat(65_535),
    endpoint: orNull(fc.webUrl()),
    failure: fc.constantFrom(null, 'timeout', 'status'),
    failureDetail: orNull(fc.string()),
    surface: fc.constantFrom(null, 'console'),
  })
  .map((facts) => ({ ...createRequestFacts(), ...facts }));
const ended: fc.Arbitrary<CompletedRequest> = fc.record({
  requestId: id,
  correlationId: id,
  actor: orNull(fc.stringMatching(/^(user|service|system):[A-Za-z0-9._@-]{1,128}$/)),
  actorKind: fc.constantFrom(null, 'user', 'service', 'system'),
  facts,
  method: fc.constantFrom('GET', 'POST'),
  status: fc.integer({ min: 200, max: 599 }),
  bytesOut: fc.nat(),
  durationMs: ms,
  completedAt: fc.nat(2 ** 31).map((seconds) => seconds * 1000 + 1),
});
const written = fc.record({
  place: fc.nat(CAPACITY - 1),
  ended,
});

describe('call table', () => {
  it('reads the last write of each place', () => {
    fc.assert(
      fc.property(fc.array(written, { minLength: 1, maxLength: 12 }), (calls) => {
        const table = new CallTable(CAPACITY);
        for (const call of calls) table.write(call.place, call.ended);
        const last = new Map(calls.map((call) => [call.place, call]));
        for (const [place, call] of last) {
          const { requestId, correlationId, method, status, facts, ...ended } = call.ended;
          const { module, route, attempts, endpoint, failure, surface } = facts;
          expect(table.read(place)).to.deep.equal({
            ...{ at: new Date(ended.completedAt).toISOString(), request_id: requestId, module },
            ...{ correlation_id: correlationId, trace_id: facts.traceId, method, route, status },
            ...{ duration_ms: ended.durationMs, provider_ms: facts.providerMs, attempts },
            ...{ endpoint, failure, failure_detail: facts.failureDetail, surface },
            actor: ended.actor,
          });
          expect(table.hasRequestId(place, requestId)).to.equal(true);
          expect(table.hasRequestId(place, `${requestId}x`)).to.equal(false);
          expect(table.hasRequestId(place, requestId.slice(1))).to.equal(false);
          expect(table.at(place)).to.equal(ended.completedAt);
          expect(table.module(place)).to.equal(module);
          expect(table.status(place)).to.equal(status);
        }
      }),
    );
  });

  it('has space for the longest ids', () => {
    const table = new CallTable(2);
    const [requestId, correlationId, traceId] = ['r'.repeat(128), 'c'.repeat(128), 'f'.repeat(32)];
    const facts = { ...createRequestFacts(), traceId };
    const call = {
      requestId,
      correlationId,
      facts,
      actor: null,
      actorKind: null,
      method: 'GET',
      status: 200,
      bytesOut: 0,
      durationMs: 1,
      completedAt: 1,
    };
    for (const place of [1, 0]) table.write(place, call);
    for (const place of [0, 1]) {
      expect(table.read(place)).to.include({
        request_id: requestId,
        correlation_id: correlationId,
        trace_id: traceId,
      });
    }
  });
});
