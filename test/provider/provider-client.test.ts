import { expect } from 'chai';
import type { Invocation } from '../../core/contract/index.js';
import { ProviderStatus } from '../../core/provider/outcome.js';
import type { CallFacts } from '../../core/provider/provider-call.js';
import { failureOf } from '../support/failure-of.js';
import { waitUntil } from '../support/http/wait-until.js';
import { answerStatus, createFakeModule, fail, hang, ok } from '../support/provider/fake-module.js';

/** Node's timers may fire this much early. */
const EARLY_MS = 2;

const deadlineOf = (invocation: { readonly headers: Readonly<Record<string, string>> }) =>
  Number(invocation.headers['modgate-deadline-ms']);

describe('provider client', () => {
  describe('deadline', () => {
    it('sends the remaining time to the provider', async () => {
      const module = createFakeModule();
      await module.call({ timeoutMs: 60_000 });
      const [invocation = expect.fail()] = module.invocations;
      expect(invocation.headers['modgate-deadline-ms']).to.match(/^[1-9][0-9]*$/);
      expect(deadlineOf(invocation)).to.be.within(30_000, 60_000);
    });

    it('sends at least 1, and whole milliseconds', async () => {
      const module = createFakeModule();
      await module.call({ timeoutMs: 1 }).catch(() => {});
      expect(module.invocations[0]?.headers['modgate-deadline-ms']).to.equal('1');
    });

    it('ends a call whether or not the adapter handles the signal', async () => {
      for (const invoke of [hang, () => new Promise<never>(() => {})]) {
        const module = createFakeModule({ invoke });
        const from = performance.now();
        expect((await failureOf(module.call({ timeoutMs: 30 }))).failure).to.equal('timeout');
        expect(performance.now() - from).to.be.at.least(30 - EARLY_MS);
        expect(module.client.counts()).to.include({ inFlight: 0, failed: 1, ended: 1 });
      }
    });

    it('includes the wait in the queue', async () => {
      const module = createFakeModule({
        limits: { concurrency: 1, queue_ms: 5000 },
        invoke: hang,
      });
      const caller = new AbortController();
      const first = failureOf(module.call({ signal: caller.signal }));
      const second = failureOf(module.call({ timeoutMs: 30 }));
      expect((await second).failure).to.equal('timeout');
      expect(module.invocations).to.have.length(1);
      caller.abort();
      await first;
    });

    it('sends less time after a wait in the queue', async () => {
      const module = createFakeModule({ limits: { concurrency: 1 }, invoke: hang });
      const from = performance.now();
      const first = failureOf(module.call({ timeoutMs: 100 }));
      const caller = new AbortController();
      const second = failureOf(module.call({ timeoutMs: 60_000, signal: caller.signal }));
      // On a busy machine the second begins some milliseconds after the first, and waits so much less.
      const laterMs = performance.now() - from;
      await first;
      await waitUntil('the second', () => module.invocations.length === 2);
      caller.abort();
      await second;
      const leftMs = deadlineOf(module.invocations[1] ?? expect.fail());
      expect(leftMs).to.be.within(1, 60_000 - 100 + laterMs + EARLY_MS);
    });

    it('includes all attempts', async () => {
      const module = createFakeModule({ endpoints: ['a', 'b'] });
      module.answer(() => (module.invocations.length === 1 ? fail() : hangLast()));
      const hangLast = () => hang(module.invocations.at(-1) ?? expect.fail());
      const failure = await failureOf(module.call({ timeoutMs: 2_000, isRepeatable: true }));
      expect(failure.failure).to.equal('timeout');
      const [first, second] = module.invocations.map(deadlineOf);
      expect(second)
        .to.be.at.least(1)
        .and.below(first ?? 0);
    });

    it('gives adapters a signal, also in a copy of the invocation', async () => {
      const copies: Invocation[] = [];
      const module = createFakeModule({
        invoke: (invocation) => {
          copies.push({ ...invocation });
          return hang(invocation);
        },
      });
      expect((await failureOf(module.call({ timeoutMs: 30 }))).failure).to.equal('timeout');
      const [copy] = copies;
      expect(copy?.signal).to.be.instanceOf(AbortSignal);
      expect(copy?.signal.aborted).to.equal(true);
      // Adapters that listen to it would ignore another signal in the copy.
      expect(copy).not.to.have.property('cancellation');
    });

    it('aborts the call when the client disconnects', async () => {
      const module = createFakeModule({ invoke: hang });
      const caller = new AbortController();
      const call = failureOf(module.call({ signal: caller.signal, isRepeatable: true }));
      caller.abort();
      expect((await call).failure).to.equal('cancelled');
      expect(module.invocations).to.have.length(1);
      expect(module.client.counts()).to.include({ failed: 0, ended: 1 });
    });

    it('sends nothing for a client that has disconnected', async () => {
      const module = createFakeModule();
      const failure = await failureOf(module.call({ signal: AbortSignal.abort() }));
      expect(failure.failure).to.equal('cancelled');
      expect(module.invocations).to.have.length(0);
    });
  });

  describe('retries', () => {
    it('repeat a repeatable call on other endpoints until it succeeds', async () => {
      const module = createFakeModule({ endpoints: ['a', 'b', 'c'] });
      module.answer(async ({ endpoint }) => (endpoint === 'c' ? ok() : fail()));
      const answer = await module.call({ isRepeatable: true });
      expect(answer).to.deep.equal({
        value: '"fine"',
        status: 200,
        stream: null,
        connection: null,
      });
      expect(module.invocations.map(({ endpoint }) => endpoint)).to.deep.equal(['a', 'b', 'c']);
      expect(module.client.counts()).to.include({ calls: 1, failed: 0, retries: 2 });
    });

    it('use the same endpoint if it is the only one', async () => {
      const module = createFakeModule();
      module.answer(async () => (module.invocations.length === 1 ? fail() : ok()));
      await module.call({ isRepeatable: true });
      expect(module.invocations).to.have.length(2);
    });

    it('are limited by `retry.attempts`', async () => {
      for (const attempts of [0, 1, 2, 4]) {
        const module = createFakeModule({ retry: { attempts }, invoke: () => fail() });
        expect((await failureOf(module.call({ isRepeatable: true }))).failure).to.equal(
          'unavailable',
        );
        expect(module.invocations).to.have.length(1 + attempts);
      }
    });

    it('keep the call id, with a new span and less time for each attempt', async () => {
      const module = createFakeModule({ invoke: () => fail() });
      await failureOf(module.call({ isRepeatable: true }));
      const headers = module.invocations.map((invocation) => invocation.headers);
      expect(headers).to.have.length(3);
      expect(new Set(headers.map((sent) => sent['modgate-call-id']))).to.have.property('size', 1);
      expect(new Set(headers.map((sent) => sent['traceparent']))).to.have.property('size', 3);
      const left = module.invocations.map(deadlineOf);
      expect(left).to.deep.equal(left.toSorted((first, other) => other - first));
      await failureOf(module.call());
      expect(module.invocations.at(-1)?.id).not.to.equal(module.invocations[0]?.id);
    });

    it('are recorded with their number and endpoint, also for a failed call', async () => {
      const module = createFakeModule({ endpoints: ['a', 'b'], invoke: () => fail() });
      const facts: CallFacts = { attempts: 0, endpoint: null };
      await failureOf(module.call({ isRepeatable: true, facts, headers: {} }));
      expect(facts.attempts).to.equal(3);
      expect(facts.endpoint).to.be.oneOf(['a', 'b']);
    });

    it('are limited by the budget of the module', async () => {
      const module = createFakeModule({ retry: { budget: 0.2 }, invoke: () => fail() });
      for (let call = 0; call < 50; call += 1) {
        await failureOf(module.call({ isRepeatable: true }));
      }
      // 10 to start with, and 49 calls of 0.2: what the first one adds does not fit in.
      expect(module.client.counts()).to.include({ calls: 50, retries: 19 });
    });

    it('do not start without time left', async () => {
      const module = createFakeModule({ invoke: () => fail() });
      const failure = await failureOf(module.call({ isRepeatable: true, timeoutMs: 5 }));
      expect(failure.failure).to.equal('unavailable');
      expect(module.invocations).to.have.length(1);
    });

    it('do not start after the client has disconnected', async () => {
      const module = createFakeModule({ invoke: () => fail() });
      const caller = new AbortController();
      module.answer(async () => {
        setImmediate(() => caller.abort());
        return fail();
      });
      const call = module.call({ isRepeatable: true, signal: caller.signal });
      expect((await failureOf(call)).failure).to.equal('cancelled');
      expect(module.invocations).to.have.length(1);
    });

    for (const failure of ['timeout', 'protocol', 'refused', 'overloaded'] as const) {
      it(`do not follow the failure ${failure}`, async () => {
        const module = createFakeModule({ invoke: () => fail(failure) });
        expect((await failureOf(module.call({ isRepeatable: true }))).failure).to.equal(failure);
        expect(module.invocations).to.have.length(1);
      });
    }

    it('do not follow a status line', async () => {
      const module = createFakeModule({ invoke: () => answerStatus(503) });
      const error = await module.call({ isRepeatable: true }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(ProviderStatus);
      module.answer(() => fail('unavailable', 503));
      await failureOf(module.call({ isRepeatable: true }));
      expect(module.invocations).to.have.length(2);
    });

    it('do not apply to a call that is not repeatable', async () => {
      const module = createFakeModule({ invoke: () => fail() });
      await failureOf(module.call());
      expect(module.invocations).to.have.length(1);
    });
  });

  describe('counters', () => {
    it('count calls of a provider without endpoints under its kind', async () => {
      const module = createFakeModule();
      await module.call();
      expect(module.invocations[0]).not.to.have.property('endpoint');
      expect(module.client.endpoints()).to.deep.equal([
        {
          endpoint: 'fake',
          state: 'up',
          inFlight: 0,
          calls: 1,
          failures: 0,
          until: null,
          routes: [],
        },
      ]);
    });

    it('count calls in flight and in the queue', async () => {
      const module = createFakeModule({ limits: { concurrency: 2 }, invoke: hang });
      const calls = [1, 2, 3].map(() => failureOf(module.call({ timeoutMs: 50 })));
      expect(module.client.counts()).to.include({ calls: 3, inFlight: 2, queued: 1, ended: 0 });
      expect(module.client.endpoints()[0]).to.include({ inFlight: 2 });
      await Promise.all(calls);
      expect(module.client.counts()).to.include({ calls: 3, inFlight: 0, queued: 0, ended: 3 });
    });

    it('count a forwarded status as a success', async () => {
      const module = createFakeModule({
        provider_errors: 'passthrough',
        invoke: () => answerStatus(404),
      });
      await module.call().catch(() => {});
      module.answer(() => answerStatus(500));
      await module.call().catch(() => {});
      expect(module.client.counts()).to.include({ calls: 2, failed: 1 });
    });
  });

  describe('bulkhead', () => {
    const LIMITS = { concurrency: 1, queue: 1, queue_ms: 5000 };
    const overload = { failure: 'overloaded', retryAfterSeconds: 1 };
    const evidence = { field: 'limit', reason: 'limits.concurrency' };

    it('rejects a call at once when the queue is full', async () => {
      const module = createFakeModule({ limits: LIMITS, invoke: hang });
      const calls = [1, 2].map(() => failureOf(module.call({ timeoutMs: 50 })));
      const rejection = await failureOf(module.call());
      expect(rejection).to.include(overload);
      expect(rejection).to.have.deep.property('evidence', evidence);
      await Promise.all(calls);
    });

    it('rejects a call that waits too long', async () => {
      const module = createFakeModule({ limits: { ...LIMITS, queue_ms: 20 }, invoke: hang });
      const first = failureOf(module.call({ timeoutMs: 100 }));
      const from = performance.now();
      expect(await failureOf(module.call())).to.include(overload);
      expect(performance.now() - from).to.be.at.least(20 - EARLY_MS);
      expect(module.client.counts()).to.include({ inFlight: 1, queued: 0 });
      await first;
    });

    it('queues no call without a queue or time', async () => {
      for (const none of [{ queue: 0 }, { queue_ms: 0 }]) {
        const module = createFakeModule({ limits: { ...LIMITS, ...none }, invoke: hang });
        const first = failureOf(module.call({ timeoutMs: 50 }));
        const rejected = failureOf(module.call());
        expect(module.client.counts()).to.include({ queued: 0 });
        expect(await rejected).to.include(overload);
        await first;
      }
    });

    it('removes a call from the queue when its client disconnects', async () => {
      const module = createFakeModule({ limits: { ...LIMITS, queue: 2 } });
      const release: (() => void)[] = [];
      module.answer(async () => {
        await new Promise<void>((resolve) => release.push(resolve));
        return ok();
      });
      const running = module.call();
      const client = new AbortController();
      const gone = failureOf(module.call({ signal: client.signal }));
      const waiting = module.call();
      client.abort();
      expect((await gone).failure).to.equal('cancelled');
      release.shift()?.();
      await running;
      await waitUntil('the waiting call', () => release.length === 1);
      expect(module.client.counts()).to.include({ inFlight: 1, queued: 0 });
      release.shift()?.();
      await waiting;
      expect(module.invocations).to.have.length(2);
    });
  });

  describe('drain', () => {
    it('ends immediately when nothing is in flight', async () => {
      const module = createFakeModule();
      await module.call();
      // Longer than a test may take.
      await module.client.drain(600_000, 0);
    });

    it('ends after the last call, including queued ones', async () => {
      const module = createFakeModule({ limits: { concurrency: 1 } });
      const release: (() => void)[] = [];
      module.answer(async () => {
        await new Promise<void>((resolve) => release.push(resolve));
        return ok();
      });
      const calls = [module.call(), module.call()];
      let isDrained = false;
      const drained = module.client.drain(5000, 0).then(() => {
        isDrained = true;
      });
      release.shift()?.();
      await calls[0];
      await waitUntil('the second call', () => release.length === 1);
      expect(isDrained).to.equal(false);
      release.shift()?.();
      await drained;
      expect(await calls[1]).to.have.property('value', '"fine"');
    });

    it('cuts long calls, without a retry', async () => {
      const module = createFakeModule({ invoke: hang });
      const call = failureOf(module.call({ isRepeatable: true }));
      await module.client.drain(20, 60_000);
      expect((await call).failure).to.equal('unavailable');
      expect(module.invocations).to.have.length(1);
    });
  });
});
