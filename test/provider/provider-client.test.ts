import { expect } from 'chai';
import {
  type HttpRouteOperation,
  type Invocation,
  ProviderFailure,
} from '../../core/contract/index.js';
import { ProviderStatus } from '../../core/provider/outcome.js';
import type { CallTrace } from '../../core/provider/provider-call.js';
import { RejectedCall } from '../../core/provider/rejected-call.js';
import { waitUntil } from '../support/http/wait-until.js';
import {
  createCall,
  createFakeModule,
  fail,
  failureOf,
  hang,
  ok,
  respondWithStatus,
} from '../support/provider/fake-module.js';

/** Node's timers may fire this much early. */
const EARLY_MS = 2;

const deadlineOf = (invocation: { readonly headers: Readonly<Record<string, string>> }) =>
  Number(invocation.headers['modgate-deadline-ms']);

/** One route of many. */
const createNth = (index: number): HttpRouteOperation => ({
  ...(createCall().operation as HttpRouteOperation),
  declaredPath: `/${index}`,
});

describe('provider client', () => {
  describe('enforces one deadline', () => {
    it('and sends the remaining time to the provider', async () => {
      const module = createFakeModule();
      await module.call({ timeoutMs: 800 });
      const [invocation = expect.fail()] = module.invocations;
      expect(invocation.headers['modgate-deadline-ms']).to.match(/^[1-9][0-9]*$/);
      expect(deadlineOf(invocation)).to.be.within(700, 800);
    });

    it('and sends whole milliseconds, at least 1', async () => {
      const module = createFakeModule();
      await module.call({ timeoutMs: 1 }).catch(() => {});
      expect(module.invocations[0]?.headers['modgate-deadline-ms']).to.equal('1');
    });

    it('for adapters that react to the signal and for those that ignore it', async () => {
      for (const invoke of [hang, () => new Promise<never>(() => {})]) {
        const module = createFakeModule({ invoke });
        const from = performance.now();
        expect((await failureOf(module.call({ timeoutMs: 30 }))).failure).to.equal('timeout');
        expect(performance.now() - from).to.be.within(30 - EARLY_MS, 1000);
        expect(module.client.counts()).to.include({ inFlight: 0, failed: 1, ended: 1 });
      }
    });

    it('including the time in the queue', async () => {
      const module = createFakeModule({
        limits: { concurrency: 1, queueMs: 5000 },
        invoke: hang,
      });
      const first = failureOf(module.call({ timeoutMs: 60 }));
      const second = failureOf(module.call({ timeoutMs: 30 }));
      expect((await second).failure).to.equal('timeout');
      expect(module.invocations).to.have.length(1);
      expect((await first).failure).to.equal('timeout');
    });

    it('and subtracts the time in the queue', async () => {
      const module = createFakeModule({ limits: { concurrency: 1 }, invoke: hang });
      const from = performance.now();
      const first = failureOf(module.call({ timeoutMs: 100 }));
      const second = failureOf(module.call({ timeoutMs: 200 }));
      // On a busy machine the second call begins some milliseconds later and waits for less time.
      const laterMs = performance.now() - from;
      await first;
      await second;
      const leftMs = deadlineOf(module.invocations[1] ?? expect.fail());
      expect(leftMs).to.be.within(1, 100 + laterMs + EARLY_MS);
    });

    it('for all attempts together', async () => {
      const module = createFakeModule({ endpoints: ['a', 'b'] });
      module.answer(() => (module.invocations.length === 1 ? fail() : hangLast()));
      const hangLast = () => hang(module.invocations.at(-1) ?? expect.fail());
      const failure = await failureOf(module.call({ timeoutMs: 100, isRepeatable: true }));
      expect(failure.failure).to.equal('timeout');
      const [first, second] = module.invocations.map(deadlineOf);
      expect(second)
        .to.be.at.least(1)
        .and.below(first ?? 0);
    });

    it('and passes a signal to adapters, also in a copy of the invocation', async () => {
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
      // If it were copied, a different signal in the copy would have no effect on its listeners.
      expect(copy).not.to.have.property('cancellation');
    });

    it('and cancels the call when the client disconnects', async () => {
      const module = createFakeModule({ invoke: hang });
      const caller = new AbortController();
      const call = failureOf(module.call({ signal: caller.signal, isRepeatable: true }));
      caller.abort();
      expect((await call).failure).to.equal('cancelled');
      expect(module.invocations).to.have.length(1);
      expect(module.client.counts()).to.include({ failed: 0, ended: 1 });
    });

    it('and calls no provider for a client that has already disconnected', async () => {
      const module = createFakeModule();
      const failure = await failureOf(module.call({ signal: AbortSignal.abort() }));
      expect(failure.failure).to.equal('cancelled');
      expect(module.invocations).to.have.length(0);
    });
  });

  describe('repeats a call', () => {
    it('that is repeatable, on another endpoint, until it succeeds', async () => {
      const module = createFakeModule({ endpoints: ['a', 'b', 'c'] });
      module.answer(async ({ endpoint }) => (endpoint === 'c' ? ok() : fail()));
      const answer = await module.call({ isRepeatable: true });
      expect(answer).to.deep.equal({ value: '"fine"', attempts: 3 });
      expect(module.invocations.map(({ endpoint }) => endpoint)).to.deep.equal(['a', 'b', 'c']);
      expect(module.client.counts()).to.include({ calls: 1, failed: 0, retries: 2 });
    });

    it('on the same endpoint if there is no other', async () => {
      const module = createFakeModule();
      module.answer(async () => (module.invocations.length === 1 ? fail() : ok()));
      expect(await module.call({ isRepeatable: true })).to.have.property('attempts', 2);
    });

    it('at most `retry.attempts` times', async () => {
      for (const attempts of [0, 1, 2, 4]) {
        const module = createFakeModule({ retry: { attempts }, invoke: () => fail() });
        expect((await failureOf(module.call({ isRepeatable: true }))).failure).to.equal(
          'unavailable',
        );
        expect(module.invocations).to.have.length(1 + attempts);
      }
    });

    it('with the same id, and with a new span and less time for each attempt', async () => {
      const module = createFakeModule({ invoke: () => fail() });
      await failureOf(module.call({ isRepeatable: true }));
      const headers = module.invocations.map((invocation) => invocation.headers);
      expect(headers).to.have.length(3);
      expect(new Set(headers.map((sent) => sent['modgate-call-id']))).to.have.property('size', 1);
      expect(new Set(headers.map((sent) => sent['traceparent']))).to.have.property('size', 3);
      const left = module.invocations.map(deadlineOf);
      expect(left).to.deep.equal(left.toSorted((one, other) => other - one));
      await failureOf(module.call());
      expect(module.invocations.at(-1)?.id).not.to.equal(module.invocations[0]?.id);
    });

    it('and reports attempts and endpoint, also for a failed call', async () => {
      const module = createFakeModule({ endpoints: ['a', 'b'], invoke: () => fail() });
      const trace: CallTrace = { attempts: 0, endpoint: null };
      await failureOf(module.call({ isRepeatable: true, trace, headers: {} }));
      expect(trace.attempts).to.equal(3);
      expect(trace.endpoint).to.be.oneOf(['a', 'b']);
    });

    it('only within the budget of the module', async () => {
      const module = createFakeModule({ retry: { budget: 0.2 }, invoke: () => fail() });
      for (let call = 0; call < 50; call += 1) {
        await failureOf(module.call({ isRepeatable: true }));
      }
      // 10 at the start and 0.2 for each of 49 calls: the first call finds the bucket full.
      expect(module.client.counts()).to.include({ calls: 50, retries: 19 });
    });

    it('not without enough time left', async () => {
      const module = createFakeModule({ invoke: () => fail() });
      const failure = await failureOf(module.call({ isRepeatable: true, timeoutMs: 5 }));
      expect(failure.failure).to.equal('unavailable');
      expect(module.invocations).to.have.length(1);
    });

    it('not after the client has disconnected', async () => {
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
      it(`not after the failure ${failure}`, async () => {
        const module = createFakeModule({ invoke: () => fail(failure) });
        expect((await failureOf(module.call({ isRepeatable: true }))).failure).to.equal(failure);
        expect(module.invocations).to.have.length(1);
      });
    }

    it('not after a status, which is a complete response', async () => {
      const module = createFakeModule({ invoke: () => respondWithStatus(503) });
      const error = await module.call({ isRepeatable: true }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(ProviderStatus);
      module.answer(() => fail('unavailable', 503));
      await failureOf(module.call({ isRepeatable: true }));
      expect(module.invocations).to.have.length(2);
    });

    it('not unless it is repeatable', async () => {
      const module = createFakeModule({ invoke: () => fail() });
      await failureOf(module.call());
      expect(module.invocations).to.have.length(1);
    });
  });

  describe('opens the breaker', () => {
    const breaker = { failures: 3, openMs: 50, maxOpenMs: 100 };
    const other = createCall().operation as HttpRouteOperation;
    const otherRoute = { operation: { ...other, method: 'POST' } } as const;
    const connecting = new ProviderFailure('timeout', 'late', { phase: 'connecting' });

    const expectRejected = async (call: Promise<unknown>) => {
      const rejection = await failureOf(call);
      expect(rejection).to.be.instanceOf(RejectedCall);
      expect(rejection.failure).to.equal('unavailable');
      const { evidence } = rejection as RejectedCall;
      expect(evidence).to.deep.equal({ field: 'breaker', reason: 'open' });
    };

    for (const [title, invoke] of [
      ['unavailable', () => fail()],
      ['a timeout while connecting', () => Promise.reject(connecting)],
    ] as const) {
      it(`of the endpoint after ${title}`, async () => {
        const module = createFakeModule({ breaker, invoke });
        for (let call = 0; call < 3; call += 1) await failureOf(module.call());
        await expectRejected(module.call());
        await expectRejected(module.call(otherRoute));
        expect(module.invocations).to.have.length(3);
        expect(module.client.endpoints()[0]).to.deep.include({ state: 'open', routes: [] });
      });
    }

    for (const [title, invoke] of [
      ['a timeout', () => fail('timeout')],
      ['a timeout within the response', () => fail('timeout', 200)],
      ['a response that is cut short', () => fail('protocol', 200)],
      ...[500, 502, 503, 599].map(
        (status) => [`${status}`, () => respondWithStatus(status)] as const,
      ),
    ] as const) {
      it(`of the route alone after ${title}`, async () => {
        const module = createFakeModule({ breaker, invoke });
        for (let call = 0; call < 3; call += 1) await module.call().catch(() => {});
        await expectRejected(module.call());
        expect(module.invocations).to.have.length(3);
        const [endpoint = expect.fail()] = module.client.endpoints();
        expect(endpoint).to.include({ state: 'up', failures: 3, calls: 3 });
        const [route = expect.fail(), ...rest] = endpoint.routes;
        expect(route).to.include({ route: 'GET /a', state: 'open' });
        expect(route.until?.getTime()).to.be.within(Date.now() - 100, Date.now() + 60);
        expect(rest).to.have.length(0);
        module.answer(async () => ok());
        expect(await module.call(otherRoute)).to.have.property('value', '"fine"');
      });
    }

    it('of a route, and closes it after one successful probe', async () => {
      const module = createFakeModule({ breaker, invoke: () => respondWithStatus(500) });
      for (let call = 0; call < 3; call += 1) await module.call().catch(() => {});
      const stateOf = () => module.client.endpoints()[0]?.routes[0]?.state;
      await waitUntil('half-open', () => stateOf() === 'half_open');
      module.answer(async () => ok());
      await module.call();
      expect(module.client.endpoints()[0]?.routes).to.deep.equal([]);
    });

    it('not of the endpoint if a status line arrives between connection failures', async () => {
      const module = createFakeModule({ breaker });
      for (let call = 0; call < 4; call += 1) {
        module.answer(() => respondWithStatus(500));
        await module.call({ ...otherRoute, operation: createNth(call) }).catch(() => {});
      }
      module.answer(() => fail());
      for (let call = 0; call < 3; call += 1) await failureOf(module.call());
      expect(module.client.endpoints()[0]).to.include({ state: 'up' });
      await failureOf(module.call());
      expect(module.client.endpoints()[0]).to.include({ state: 'open' });
    });

    it('not after unusable responses, which do not dilute failures either', async () => {
      const unusable = new ProviderFailure('protocol', 'large', { status: 200, phase: 'answered' });
      const module = createFakeModule({ breaker, invoke: () => Promise.reject(unusable) });
      for (let call = 0; call < 9; call += 1) await failureOf(module.call());
      expect(module.client.endpoints()[0]).to.deep.include({ failures: 0, routes: [] });
      module.answer(() => respondWithStatus(500));
      for (let call = 0; call < 3; call += 1) await module.call().catch(() => {});
      expect(module.client.endpoints()[0]?.routes).to.have.length(1);
    });

    for (const status of [400, 404, 429, 499]) {
      it(`not after the status ${status}`, async () => {
        const module = createFakeModule({ breaker, invoke: () => respondWithStatus(status) });
        for (let call = 0; call < 9; call += 1) await module.call().catch(() => {});
        expect(module.client.endpoints()[0]).to.include({ state: 'up', failures: 0, calls: 9 });
      });
    }

    for (const failure of ['refused', 'overloaded'] as const) {
      it(`not after the failure ${failure}`, async () => {
        const module = createFakeModule({ breaker, invoke: () => fail(failure) });
        for (let call = 0; call < 9; call += 1) await failureOf(module.call());
        expect(module.client.endpoints()[0]).to.include({ state: 'up', failures: 0 });
      });
    }

    it('not for clients that disconnect', async () => {
      const module = createFakeModule({ breaker, invoke: hang });
      for (let call = 0; call < 9; call += 1) {
        const caller = new AbortController();
        const gone = failureOf(module.call({ signal: caller.signal }));
        caller.abort();
        await gone;
      }
      expect(module.client.endpoints()[0]).to.include({ state: 'up', failures: 0, inFlight: 0 });
    });

    it('of one endpoint and uses the others', async () => {
      const module = createFakeModule({
        breaker,
        endpoints: ['bad', 'good'],
        invoke: async ({ endpoint }) => (endpoint === 'bad' ? fail() : ok()),
      });
      for (let call = 0; call < 20; call += 1) await module.call().catch(() => {});
      const sent = module.invocations.map(({ endpoint }) => endpoint);
      expect(sent.filter((endpoint) => endpoint === 'bad')).to.have.length(3);
      expect(module.client.endpoints().map(({ state }) => state)).to.deep.equal(['open', 'up']);
    });

    it('and closes it after one successful probe', async () => {
      const module = createFakeModule({ breaker, invoke: () => fail() });
      for (let call = 0; call < 3; call += 1) await failureOf(module.call());
      const [open] = module.client.endpoints();
      expect(open?.until?.getTime()).to.be.within(Date.now() - 100, Date.now() + 60);
      await waitUntil('half open', () => module.client.endpoints()[0]?.state === 'half_open');
      let release = () => {};
      module.answer(async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return ok();
      });
      const probe = module.call();
      const beside = await failureOf(module.call());
      expect(beside).to.be.instanceOf(RejectedCall);
      release();
      expect(await probe).to.have.property('value', '"fine"');
      expect(module.client.endpoints()[0]).to.include({ state: 'up', until: null });
    });

    it('and reports the remaining time in whole seconds', async () => {
      const module = createFakeModule({
        breaker: { failures: 1, openMs: 2500, maxOpenMs: 2500 },
        endpoints: ['a', 'b'],
        invoke: () => fail(),
      });
      await failureOf(module.call());
      await failureOf(module.call());
      const refusal = (await failureOf(module.call())) as RejectedCall;
      expect(refusal.retryAfterSeconds).to.equal(3);
    });

    it('and queues no call', async () => {
      const module = createFakeModule({
        breaker: { failures: 1, openMs: 20, maxOpenMs: 20 },
        limits: { concurrency: 2, queueMs: 5000 },
        invoke: hang,
      });
      const callers = new AbortController();
      const old = failureOf(module.call({ signal: callers.signal }));
      module.answer(() => fail());
      await failureOf(module.call());
      await waitUntil('half open', () => module.client.endpoints()[0]?.state === 'half_open');
      module.answer(hang);
      const probe = failureOf(module.call({ signal: callers.signal }));
      expect(module.client.counts()).to.include({ inFlight: 2 });
      const refused = failureOf(module.call({ timeoutMs: 1000 }));
      expect(module.client.counts()).to.include({ queued: 0 });
      expect(await refused).to.have.deep.property('evidence', { field: 'breaker', reason: 'open' });
      callers.abort();
      await Promise.all([old, probe]);
    });

    it('and keeps the failure that opened it unchanged', async () => {
      const module = createFakeModule({
        breaker: { failures: 2, openMs: 10_000, maxOpenMs: 10_000 },
        invoke: () => fail(),
      });
      const first = failureOf(module.call({ isRepeatable: true }));
      await new Promise(setImmediate);
      // The first call now waits for its retry, and the second one opens the breaker.
      const second = failureOf(module.call({ isRepeatable: true }));
      for (const failure of await Promise.all([first, second])) {
        expect(failure).not.to.be.instanceOf(RejectedCall);
        expect(failure.failure).to.equal('unavailable');
      }
      expect(module.invocations).to.have.length(2);
    });

    it('and does not wait for a retry that is impossible', async () => {
      const took: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        const module = createFakeModule({ breaker: { failures: 1 }, invoke: () => fail() });
        const from = performance.now();
        await failureOf(module.call({ isRepeatable: true }));
        took.push(performance.now() - from);
      }
      // A retry waits for at least half of 25 ms.
      expect(Math.min(...took)).to.be.below(10);
    });
  });

  describe('counts', () => {
    it('an endpoint named after the kind for a provider without endpoints, and omits it from calls', async () => {
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

    it('calls in flight and queued calls', async () => {
      const module = createFakeModule({ limits: { concurrency: 2 }, invoke: hang });
      const calls = [1, 2, 3].map(() => failureOf(module.call({ timeoutMs: 50 })));
      expect(module.client.counts()).to.include({ calls: 3, inFlight: 2, queued: 1, ended: 0 });
      expect(module.client.endpoints()[0]).to.include({ inFlight: 2 });
      await Promise.all(calls);
      expect(module.client.counts()).to.include({ calls: 3, inFlight: 0, queued: 0, ended: 3 });
    });

    it('a status that is passed through as a success', async () => {
      const module = createFakeModule({
        providerErrors: 'passthrough',
        invoke: () => respondWithStatus(404),
      });
      await module.call().catch(() => {});
      module.answer(() => respondWithStatus(500));
      await module.call().catch(() => {});
      expect(module.client.counts()).to.include({ calls: 2, failed: 1 });
    });
  });

  describe('drains', () => {
    it('immediately when no call is in flight', async () => {
      const module = createFakeModule();
      await module.call();
      const from = performance.now();
      await module.client.drain(2000);
      expect(performance.now() - from).to.be.below(1000);
    });

    it('when the last call has ended, including queued calls', async () => {
      const module = createFakeModule({ limits: { concurrency: 1 } });
      const release: (() => void)[] = [];
      module.answer(async () => {
        await new Promise<void>((resolve) => release.push(resolve));
        return ok();
      });
      const calls = [module.call(), module.call()];
      let isDrained = false;
      const drained = module.client.drain(5000).then(() => {
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

    it('by cutting calls that exceed the timeout, without a retry', async () => {
      const module = createFakeModule({ invoke: hang });
      const call = failureOf(module.call({ isRepeatable: true }));
      await module.client.drain(20);
      expect((await call).failure).to.equal('unavailable');
      expect(module.invocations).to.have.length(1);
    });
  });
});
