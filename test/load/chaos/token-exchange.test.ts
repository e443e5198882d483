import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { useExchangeHost } from '../../support/auth/use-exchange-host.js';
import { answerError, answerToken } from '../../support/exchange-server.js';

const CALLERS = 10_000;
/** Callers that call a second time. */
const AGAIN = 1_000;
const CONCURRENCY = 64;
const LIFETIME_S = 40;
const OUTAGE_MS = 30_000;
const LIVE_CALLERS = 50;
/** The pause between two rounds of calls, so that other tests beside this one have the processor. */
const PAUSE_MS = 100;

describe('tokens on behalf of many callers', function () {
  this.timeout(300_000);
  const others = { callers: ['user'] };
  const setup = useExchangeHost((describeOn) => ({
    'crm.json': describeOn('crm', {}, others),
    'live.json': describeOn('live', { audience: 'live' }, others),
  }));

  const callAll = async (module: string, tokens: readonly string[]): Promise<number> => {
    let [next, failed] = [0, 0];
    const work = async () => {
      for (let token = tokens[next++]; token !== undefined; token = tokens[next++]) {
        const response = await fetch(`${setup.host.url}/modules/${module}/http/items`, {
          headers: { authorization: `Bearer ${token}` },
        });
        await response.arrayBuffer();
        if (response.status !== 200) failed += 1;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return failed;
  };
  const createTokens = (count: number) =>
    Promise.all(Array.from({ length: count }, (_, at) => setup.tokenOf(`caller-${at}`)));

  it('are requested once for each of 10,000 callers', async () => {
    const tokens = await createTokens(CALLERS);
    expect(await callAll('crm', tokens)).to.equal(0);
    expect(await callAll('crm', tokens.slice(0, AGAIN))).to.equal(0);
    const subjects = new Set(setup.server.requests.map(({ subject }) => subject));
    expect(subjects.size).to.equal(CALLERS);
    expect(setup.server.requests).to.have.length(CALLERS);
  });

  it('lose no call in an outage of 30 s while they live, and are renewed after it', async () => {
    const tokens = await createTokens(LIVE_CALLERS);
    setup.server.answer(answerToken({ access_token: 'live', expires_in: LIFETIME_S }));
    expect(await callAll('live', tokens)).to.equal(0);
    const startedAt = performance.now();
    setup.server.answer(answerError(503));
    let calls = 0;
    let failed = 0;
    // Beyond the life of the first tokens, so that the new ones are used.
    for (let passed = 0; passed < (LIFETIME_S + 5) * 1000; passed = performance.now() - startedAt) {
      if (passed > OUTAGE_MS) {
        setup.server.answer(answerToken({ access_token: 'live', expires_in: LIFETIME_S }));
      }
      failed += await callAll('live', tokens);
      calls += tokens.length;
      await delay(PAUSE_MS);
    }
    console.log(`      ${calls} calls, ${failed} failed, ${setup.server.requests.length} requests`);
    expect(failed).to.equal(0);
  });
});
