import { expect } from 'chai';
import { ProviderFailure } from '../../core/contract/index.js';
import { RejectedCall } from '../../core/provider/rejected-call.js';
import { failureOf } from '../support/failure-of.js';
import { waitUntil } from '../support/http/wait-until.js';
import { answerStatus, createFakeModule, fail, hang, ok } from '../support/provider/fake-module.js';

describe('provider client', () => {
  describe('circuit breaker', () => {
    const breaker = { failures: 3, open_ms: 50, max_open_ms: 100 };
    const long = { failures: 3, open_ms: 60_000, max_open_ms: 60_000 };
    const otherRoute = { route: 'POST /a' };
    const connecting = new ProviderFailure('timeout', 'late', { phase: 'connecting' });
    const sending = new ProviderFailure('unavailable', 'cut', { phase: 'sending' });

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
      it(`opens for the endpoint after ${title}`, async () => {
        const module = createFakeModule({ breaker: long, invoke });
        for (let call = 0; call < 3; call += 1) await failureOf(module.call());
        await expectRejected(module.call());
        await expectRejected(module.call(otherRoute));
        expect(module.invocations).to.have.length(3);
        expect(module.client.endpoints()[0]).to.deep.include({ state: 'open', routes: [] });
      });
    }

    for (const [title, invoke] of [
      ['a timeout', () => fail('timeout')],
      ['a request that was sent in part', () => Promise.reject(sending)],
      ['a timeout within the response', () => fail('timeout', 200)],
      ['a response that is cut short', () => fail('protocol', 200)],
      ...[500, 502, 503, 599].map((status) => [`${status}`, () => answerStatus(status)] as const),
    ] as const) {
      it(`opens for the route alone after ${title}`, async () => {
        const module = createFakeModule({ breaker: long, invoke });
        const begun = Date.now();
        for (let call = 0; call < 3; call += 1) await module.call().catch(() => {});
        await expectRejected(module.call());
        expect(module.invocations).to.have.length(3);
        const [endpoint = expect.fail()] = module.client.endpoints();
        expect(endpoint).to.include({ state: 'up', failures: 3, calls: 3 });
        const [route = expect.fail(), ...rest] = endpoint.routes;
        expect(route).to.include({ route: 'GET /a', state: 'open' });
        const openedAt = (route.until?.getTime() ?? 0) - long.open_ms;
        expect(openedAt).to.be.within(begun, Date.now() + 1);
        expect(rest).to.have.length(0);
        module.answer(async () => ok());
        expect(await module.call(otherRoute)).to.have.property('value', '"fine"');
      });
    }

    it('closes for a route with one probe', async () => {
      const module = createFakeModule({ breaker, invoke: () => answerStatus(500) });
      for (let call = 0; call < 3; call += 1) await module.call().catch(() => {});
      const stateOf = () => module.client.endpoints()[0]?.routes[0]?.state;
      await waitUntil('half-open', () => stateOf() === 'half_open');
      module.answer(async () => ok());
      await module.call();
      expect(module.client.endpoints()[0]?.routes).to.deep.equal([]);
    });

    it('counts every status line as a success of the endpoint', async () => {
      const module = createFakeModule({ breaker });
      for (let call = 0; call < 4; call += 1) {
        module.answer(() => answerStatus(500));
        await module.call({ route: `GET /${call}` }).catch(() => {});
      }
      module.answer(() => fail());
      for (let call = 0; call < 3; call += 1) await failureOf(module.call());
      expect(module.client.endpoints()[0]).to.include({ state: 'up' });
      await failureOf(module.call());
      expect(module.client.endpoints()[0]).to.include({ state: 'open' });
    });

    it('ignores unusable responses, also in the ratio', async () => {
      const unusable = new ProviderFailure('protocol', 'large', { status: 200, phase: 'answered' });
      const module = createFakeModule({ breaker, invoke: () => Promise.reject(unusable) });
      for (let call = 0; call < 9; call += 1) await failureOf(module.call());
      expect(module.client.endpoints()[0]).to.deep.include({ failures: 0, routes: [] });
      module.answer(() => answerStatus(500));
      for (let call = 0; call < 3; call += 1) await module.call().catch(() => {});
      expect(module.client.endpoints()[0]?.routes).to.have.length(1);
    });

    for (const status of [400, 404, 429, 499]) {
      it(`stays closed after responses with ${status}`, async () => {
        const module = createFakeModule({ breaker, invoke: () => answerStatus(status) });
        for (let call = 0; call < 9; call += 1) await module.call().catch(() => {});
        expect(module.client.endpoints()[0]).to.include({ state: 'up', failures: 0, calls: 9 });
      });
    }

    for (const failure of ['refused', 'overloaded'] as const) {
      it(`stays closed after the failure ${failure}`, async () => {
        const module = createFakeModule({ breaker, invoke: () => fail(failure) });
        for (let call = 0; call < 9; call += 1) await failureOf(module.call());
        expect(module.client.endpoints()[0]).to.include({ state: 'up', failures: 0 });
      });
    }

    it('stays closed when clients disconnect', async () => {
      const module = createFakeModule({ breaker, invoke: hang });
      for (let call = 0; call < 9; call += 1) {
        const caller = new AbortController();
        const gone = failureOf(module.call({ signal: caller.signal }));
        caller.abort();
        await gone;
      }
      expect(module.client.endpoints()[0]).to.include({ state: 'up', failures: 0, inFlight: 0 });
    });

    it('leaves the other endpoints in use', async () => {
      const module = createFakeModule({
        breaker: long,
        endpoints: ['bad', 'good'],
        invoke: async ({ endpoint }) => (endpoint === 'bad' ? fail() : ok()),
      });
      for (let call = 0; call < 20; call += 1) await module.call().catch(() => {});
      const sent = module.invocations.map(({ endpoint }) => endpoint);
      expect(sent.filter((endpoint) => endpoint === 'bad')).to.have.length(3);
      expect(module.client.endpoints().map(({ state }) => state)).to.deep.equal(['open', 'up']);
    });

    it('closes with one probe', async () => {
      const module = createFakeModule({ breaker, invoke: () => fail() });
      for (let call = 0; call < 3; call += 1) await failureOf(module.call());
      await waitUntil('half open', () => module.client.endpoints()[0]?.state === 'half_open');
      let release = () => {};
      module.answer(async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return ok();
      });
      const probe = module.call({ isRepeatable: true });
      const beside = await failureOf(module.call({ isRepeatable: true }));
      expect(beside).to.be.instanceOf(RejectedCall);
      release();
      expect(await probe).to.have.property('value', '"fine"');
      expect(module.client.endpoints()[0]).to.include({ state: 'up', until: null });
    });

    it('leaves the probe to a call that may be repeated', async () => {
      const module = createFakeModule({
        breaker: { failures: 1, open_ms: 1000, max_open_ms: 1000 },
        endpoints: ['bad', 'good'],
        invoke: async ({ endpoint }) => (endpoint === 'bad' ? fail() : ok()),
      });
      const state = () => module.client.endpoints()[0]?.state;
      for (let call = 0; call < 2; call += 1) await module.call().catch(() => {});
      expect(state()).to.equal('open');
      await waitUntil('half open', () => state() === 'half_open');
      const before = module.invocations.length;
      for (let call = 0; call < 10; call += 1) await module.call();
      for (const { endpoint } of module.invocations.slice(before))
        expect(endpoint).to.equal('good');
      module.answer(async () => ok());
      for (let call = 0; call < 2; call += 1) await module.call({ isRepeatable: true });
      expect(state()).to.equal('up');
    });

    it('reports the remaining time in whole seconds', async () => {
      const module = createFakeModule({
        breaker: { failures: 1, open_ms: 2500, max_open_ms: 2500 },
        endpoints: ['a', 'b'],
        invoke: () => fail(),
      });
      await failureOf(module.call());
      await failureOf(module.call());
      const refusal = (await failureOf(module.call())) as RejectedCall;
      expect(refusal.retryAfterSeconds).to.equal(3);
    });

    it('does not queue calls while open', async () => {
      const module = createFakeModule({
        breaker: { failures: 1, open_ms: 20, max_open_ms: 20 },
        limits: { concurrency: 2, queue_ms: 5000 },
        invoke: hang,
      });
      const callers = new AbortController();
      const old = failureOf(module.call({ signal: callers.signal }));
      module.answer(() => fail());
      await failureOf(module.call());
      await waitUntil('half open', () => module.client.endpoints()[0]?.state === 'half_open');
      module.answer(hang);
      const probe = failureOf(module.call({ signal: callers.signal, isRepeatable: true }));
      expect(module.client.counts()).to.include({ inFlight: 2 });
      const refused = failureOf(module.call({ timeoutMs: 1000 }));
      expect(module.client.counts()).to.include({ queued: 0 });
      expect(await refused).to.have.deep.property('evidence', { field: 'breaker', reason: 'open' });
      callers.abort();
      await Promise.all([old, probe]);
    });

    it('keeps the original failure of a call that opened it', async () => {
      const module = createFakeModule({
        breaker: { failures: 2, open_ms: 10_000, max_open_ms: 10_000 },
        invoke: () => fail(),
      });
      // The first one waits for its retry when the second one opens the breaker.
      const first = failureOf(module.call({ isRepeatable: true }));
      const second = failureOf(module.call({ isRepeatable: true }));
      for (const failure of await Promise.all([first, second])) {
        expect(failure).not.to.be.instanceOf(RejectedCall);
        expect(failure.failure).to.equal('unavailable');
      }
      expect(module.invocations).to.have.length(2);
    });

    it('does not delay a failure when no retry is possible', async () => {
      const module = createFakeModule({ breaker: { failures: 1 }, invoke: () => fail() });
      let isOver = false;
      const failure = failureOf(module.call({ isRepeatable: true })).then(() => {
        isOver = true;
      });
      // Half of 25 ms is the least that a retry waits, far more than ten turns of the event loop.
      for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
      expect(isOver).to.equal(true);
      await failure;
    });
  });
});
