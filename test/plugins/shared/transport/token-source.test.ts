import { expect } from 'chai';
import { ProviderFailure, Secret } from '../../../../core/contract/index.js';
import type { IssuedToken } from '../../../../plugins/shared/transport/tokens/token-endpoint.js';
import {
  type AccessToken,
  TokenSource,
} from '../../../../plugins/shared/transport/tokens/token-source.js';
import { createRecordedLog } from '../../../support/auth/recorded-log.js';

const SECOND = 1_000;
const FAILURE = new ProviderFailure('unavailable', 'token endpoint: status 503', {
  phase: 'preparing',
});

describe('the token of a provider', () => {
  let now: number;
  let requests: number;
  let answer: () => Promise<IssuedToken>;
  let tokens: TokenSource;
  let recorded: ReturnType<typeof createRecordedLog>;

  beforeEach(() => {
    now = 1_000_000;
    requests = 0;
    recorded = createRecordedLog();
    issue(3_600);
    tokens = new TokenSource({
      now: () => now,
      log: recorded.log,
      request: () => {
        requests += 1;
        return answer();
      },
    });
  });

  const issue = (seconds: number) => {
    answer = async () => ({
      value: new Secret(`token-${requests}`),
      lifetimeMs: seconds * SECOND,
    });
  };
  const fail = () => {
    answer = () => Promise.reject(FAILURE);
  };
  const textOf = (token: AccessToken | null) => token?.value.reveal() ?? null;
  const currentText = () => textOf(tokens.current());
  /** Resolves when requests that were answered are settled. */
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const errorOf = (work: Promise<unknown>) => work.then(() => null).catch((error) => error);

  it('is requested once for all calls that wait', async () => {
    expect(currentText()).to.equal(null);
    const all = await Promise.all([tokens.renew(), tokens.renew(), tokens.renew()]);
    expect(all.map(textOf)).to.deep.equal(['token-1', 'token-1', 'token-1']);
    expect(currentText()).to.equal('token-1');
    expect(requests).to.equal(1);
  });

  it('is renewed 30 s before it expires, by one request, while the old one is used', async () => {
    await tokens.renew();
    now += 3_569 * SECOND;
    expect(currentText()).to.equal('token-1');
    expect(requests).to.equal(1);
    now += SECOND;
    for (const _ of [1, 2, 3]) expect(currentText()).to.equal('token-1');
    expect(requests).to.equal(2);
    await settle();
    expect(currentText()).to.equal('token-2');
  });

  it('is renewed after half its life where that is later', async () => {
    issue(20);
    await tokens.renew();
    now += 9 * SECOND;
    currentText();
    expect(requests).to.equal(1);
    now += SECOND;
    expect(currentText()).to.equal('token-1');
    expect(requests).to.equal(2);
  });

  it('is used until it expires while the endpoint fails, and not after', async () => {
    await tokens.renew();
    fail();
    now += 3_599 * SECOND;
    expect(currentText()).to.equal('token-1');
    await settle();
    expect(currentText()).to.equal('token-1');
    now += SECOND;
    expect(currentText()).to.equal(null);
    expect(await errorOf(tokens.renew())).to.equal(FAILURE);
  });

  it('is requested again after 1 s, doubled up to 30 s', async () => {
    fail();
    await errorOf(tokens.renew());
    let known = requests;
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      now += seconds * SECOND - 1;
      expect(await errorOf(tokens.renew())).to.equal(FAILURE);
      expect(requests).to.equal(known);
      now += 1;
      expect(await errorOf(tokens.renew())).to.equal(FAILURE);
      expect(requests).to.equal(known + 1);
      known = requests;
    }
    const lines = recorded.lines.map(({ message, fields }) => [message, fields['reason']]);
    expect(lines).to.have.length(known);
    expect(lines[0]).to.deep.equal(['token request failed', 'token endpoint: status 503']);
    now += 30 * SECOND;
    issue(3_600);
    expect(textOf(await tokens.renew())).to.equal(`token-${known + 1}`);
    now += 3_600 * SECOND;
    fail();
    await errorOf(tokens.renew());
    now += SECOND;
    issue(3_600);
    await tokens.renew();
    expect(currentText()).to.equal(`token-${known + 3}`);
  });

  it('is dropped at most once in 10 s, and never an older one', async () => {
    const first = await tokens.renew();
    expect(tokens.drop(first)).to.equal(true);
    expect(currentText()).to.equal(null);
    const second = await tokens.renew();
    expect(tokens.drop(first)).to.equal(false);
    now += 9_999;
    expect(tokens.drop(second)).to.equal(false);
    expect(currentText()).to.equal('token-2');
    now += 1;
    expect(tokens.drop(first)).to.equal(false);
    expect(tokens.drop(second)).to.equal(true);
  });
});
