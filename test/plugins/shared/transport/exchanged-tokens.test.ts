import { expect } from 'chai';
import {
  type Actor,
  type CallerToken,
  isProviderFailure,
  ProviderFailure,
  Secret,
} from '../../../../core/contract/index.js';
import { ExchangedTokens } from '../../../../plugins/shared/transport/exchanged-tokens.js';
import type { IssuedToken } from '../../../../plugins/shared/transport/tokens/token-endpoint.js';
import { TokenRejected } from '../../../../plugins/shared/transport/tokens/token-failure.js';
import type { Tokens } from '../../../../plugins/shared/transport/tokens/token-source.js';
import { createRecordedLog } from '../../../support/auth/recorded-log.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** One for each call: it has listeners. */
const never = () => new AbortController().signal;

let settings = 0;

describe('exchanged tokens', () => {
  let now: number;
  let requested: string[];
  let answer: (token: CallerToken) => Promise<IssuedToken>;
  let exchanged: ExchangedTokens;

  beforeEach(() => {
    now = 1_000_000;
    requested = [];
    issue(3_600);
    // The cache belongs to the process.
    settings += 1;
    exchanged = create();
  });

  const create = () =>
    new ExchangedTokens({
      settings: `settings-${settings}`,
      now: () => now,
      log: createRecordedLog().log,
      request: (token) => {
        requested.push(token.value.reveal());
        return answer(token);
      },
    });
  const issue = (seconds: number) => {
    answer = async (token) => ({
      value: new Secret(`for-${token.value.reveal()}-${requested.length}`),
      lifetimeMs: seconds * SECOND,
    });
  };
  const fail = (failure: ProviderFailure) => {
    answer = () => Promise.reject(failure);
  };
  const actor = (id: string): Actor => ({ kind: 'user', id, scopes: new Set() });
  const of = (id: string, expiresAt = Date.now() + HOUR, text = id): Tokens =>
    exchanged.of({ value: new Secret(text), expiresAt }, actor(id));
  const textOf = (token: ReturnType<Tokens['current']>) => token?.value.reveal() ?? null;
  const renew = async (tokens: Tokens) => textOf(await tokens.renew(never()));
  const failureOf = async (work: Promise<unknown>): Promise<ProviderFailure> => {
    const error = await work.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (isProviderFailure(error)) return error;
    throw new Error('it did not fail', { cause: error });
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('belong to one caller, and survive a reload with the same settings', async () => {
    expect(await renew(of('ann'))).to.equal('for-ann-1');
    expect(await renew(of('bob'))).to.equal('for-bob-2');
    exchanged = create();
    expect(textOf(of('ann').current())).to.equal('for-ann-1');
    settings += 1;
    exchanged = create();
    expect(of('ann').current()).to.equal(null);
  });

  it('are requested once for all calls of a caller that wait', async () => {
    const ann = of('ann');
    const all = await Promise.all([renew(ann), renew(ann), renew(ann)]);
    expect(all).to.deep.equal(Array(3).fill('for-ann-1'));
    expect(requested).to.have.length(1);
  });

  it('expire with the token of the caller, and are not renewed ahead of that', async () => {
    const ann = of('ann', Date.now() + 60 * SECOND);
    await renew(ann);
    now += 59 * SECOND;
    expect(textOf(ann.current())).to.equal('for-ann-1');
    now += 2 * SECOND;
    expect(ann.current()).to.equal(null);
    expect(requested).to.have.length(1);
  });

  it('expire by themselves, and are renewed 30 s ahead', async () => {
    const ann = of('ann');
    issue(300);
    await renew(ann);
    now += 269 * SECOND;
    expect(textOf(ann.current())).to.equal('for-ann-1');
    now += 2 * SECOND;
    expect(textOf(ann.current())).to.equal('for-ann-1');
    await settle();
    expect(textOf(ann.current())).to.equal('for-ann-2');
    now += 301 * SECOND;
    expect(ann.current()).to.equal(null);
  });

  it('are used until they expire while the endpoint fails', async () => {
    const ann = of('ann');
    issue(300);
    await renew(ann);
    fail(new TokenRejected(503, null));
    for (now += 271 * SECOND; now < 1_000_000 + 300 * SECOND; now += SECOND) {
      expect(textOf(ann.current())).to.equal('for-ann-1');
      await settle();
    }
    expect(ann.current()).to.equal(null);
    // After 1, 2, 4, 8 and 16 s.
    expect(requested).to.have.length(1 + 5);
  });

  for (const [status, error] of [
    [400, 'invalid_grant'],
    [403, 'access_denied'],
    [401, 'invalid_token'],
    [400, null],
  ] as const) {
    it(`reject one caller for ${status} ${error}`, async () => {
      fail(new TokenRejected(status, error));
      const failure = await failureOf(of('ann').renew(never()));
      expect(failure).to.include({ failure: 'refused', phase: 'preparing' });
      await failureOf(of('ann').renew(never()));
      expect(requested).to.deep.equal(['ann']);
      issue(300);
      expect(await renew(of('bob'))).to.equal('for-bob-2');
    });
  }

  for (const failure of [
    new TokenRejected(401, 'invalid_client'),
    new TokenRejected(400, 'unauthorized_client'),
    new TokenRejected(400, 'unsupported_grant_type'),
    new TokenRejected(429, 'slow_down'),
    new TokenRejected(503, null),
    new TokenRejected(302, null),
    new TokenRejected(404, null),
    new ProviderFailure('timeout', 'token endpoint: no response within 5 s'),
  ]) {
    it(`wait for all callers after ${failure.detail}`, async () => {
      fail(failure);
      expect(await failureOf(of('ann').renew(never()))).to.equal(failure);
      expect(await failureOf(of('bob').renew(never()))).to.equal(failure);
      expect(requested).to.deep.equal(['ann']);
      now += SECOND;
      issue(300);
      expect(await renew(of('bob'))).to.equal('for-bob-2');
    });
  }

  it('count failures that ran at the same time once', async () => {
    fail(new TokenRejected(503, null));
    await Promise.all(['ann', 'bob', 'eve'].map((id) => failureOf(of(id).renew(never()))));
    expect(requested).to.have.length(3);
    now += SECOND;
    issue(300);
    expect(await renew(of('ann'))).to.equal('for-ann-4');
  });

  it('are dropped at most once in 10 s for each caller', async () => {
    const [ann, bob] = [of('ann'), of('bob')];
    const [first, other] = [await ann.renew(never()), await bob.renew(never())];
    expect(ann.drop(first)).to.equal(true);
    const second = await ann.renew(never());
    expect(ann.drop(first)).to.equal(false);
    expect(ann.drop(second)).to.equal(false);
    expect(bob.drop(other)).to.equal(true);
  });

  it('are requested 16 at a time, in turns by actor, and 256 wait', async () => {
    const release: (() => void)[] = [];
    answer = (token) =>
      new Promise((resolve) => {
        release.push(() =>
          resolve({ value: new Secret(token.value.reveal()), lifetimeMs: 300_000 }),
        );
      });
    const ask = (id: string, text: string) =>
      of(id, Date.now() + HOUR, text)
        .renew(never())
        .catch((error: ProviderFailure) => error.failure);
    const greedy = Array.from({ length: 300 }, (_, at) => ask('greedy', `greedy-${at}`));
    const polite = ask('polite', 'polite');
    expect(requested).to.have.length(16);
    release.shift()?.();
    release.shift()?.();
    await settle();
    expect(requested).to.have.length(18).and.to.include('polite');
    while (release.length > 0) {
      release.shift()?.();
      await settle();
    }
    const results = await Promise.all(greedy);
    // One more had to leave for the other actor.
    expect(results.filter((outcome) => outcome === 'overloaded')).to.have.length(
      300 - 16 - 256 + 1,
    );
    expect(await polite).to.not.be.a('string');
  });

  it('leave the queue with the last call that waits for them', async () => {
    const release: (() => void)[] = [];
    answer = (token) =>
      new Promise((resolve) => {
        release.push(() => resolve({ value: token.value, lifetimeMs: 300_000 }));
      });
    const running = Array.from({ length: 16 }, (_, at) => of(`caller-${at}`).renew(never()));
    const [first, second] = [new AbortController(), new AbortController()];
    const ann = of('ann');
    const waiting = [first, second].map(({ signal }) => failureOf(ann.renew(signal)));
    first.abort();
    second.abort();
    await Promise.all(waiting);
    for (const resume of release.splice(0)) resume();
    await Promise.all(running);
    expect(requested).to.not.include('ann');
  });
});
