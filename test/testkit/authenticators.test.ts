import { expect } from 'chai';
import type { AuthenticatorFactory } from '../../core/contract/index.js';
import { AUTHENTICATION } from '../../core/testkit/clauses/authentication.js';
import { authenticatorSuite, runAuthenticatorClauses } from '../../core/testkit/index.js';
import { waitUntil } from '../support/http/wait-until.js';
import { DEV, SIGNED, startSigned, TOKENS } from '../support/testkit/authenticator-subjects.js';
import { MUTANTS, timers } from '../support/testkit/mutants/authenticator-mutants.js';

authenticatorSuite(DEV);
authenticatorSuite(TOKENS);
authenticatorSuite(SIGNED);

describe('authenticator clauses', () => {
  afterEach(() => {
    for (const timer of timers.splice(0)) clearInterval(timer);
  });

  for (const { clause, defect, of = TOKENS, change = () => ({}), changeFactory } of MUTANTS) {
    it(`${clause} catches an authenticator that ${defect}`, async () => {
      const authenticator: AuthenticatorFactory = {
        ...of.authenticator,
        open: async (config, context) => {
          const good = await of.authenticator.open(config, context);
          return { ...good, ...(await change(good, context)) };
        },
        ...changeFactory,
      };
      const subject = { ...of, authenticator, timeoutMs: 500 };
      const [result, ...others] = await runAuthenticatorClauses(subject, { only: [clause] });
      expect(others).to.deep.equal([]);
      expect(result?.status, `${result?.reason}`).to.equal('fail');
    });
  }

  it('have at least one mutant each', () => {
    const caught = new Set(MUTANTS.map(({ clause }) => clause));
    expect(AUTHENTICATION.map(({ id }) => id).filter((id) => !caught.has(id))).to.deep.equal([]);
  });

  it('are skipped with the reason of a subject that cannot run here', async () => {
    const start = async () => ({ skip: 'no server' });
    const results = await runAuthenticatorClauses({ ...TOKENS, start });
    expect(results.map(({ id }) => id)).to.deep.equal(AUTHENTICATION.map(({ id }) => id));
    for (const { status, reason } of results) {
      expect({ status, reason }).to.deep.equal({ status: 'skip', reason: 'no server' });
    }
  });

  it('fail, and stop the subject later, when its start takes too long', async () => {
    let startNow = () => {};
    const late = new Promise<void>((resolve) => {
      startNow = resolve;
    });
    let isStopped = false;
    const start = async () => {
      await late;
      const stop = async () => {
        isStopped = true;
      };
      return { ...(await startSigned()), stop };
    };
    const [result] = await runAuthenticatorClauses(
      { ...SIGNED, start, timeoutMs: 50 },
      { only: ['authenticator.name'] },
    );
    expect(result).to.include({
      status: 'fail',
      reason: 'start of the subject did not settle within 50 ms',
    });
    startNow();
    await waitUntil('the stop of the subject', async () => isStopped);
  });

  it('are selected by their area', async () => {
    const ids = async (only: string) =>
      (await runAuthenticatorClauses(DEV, { only: [only] })).map(({ id }) => id);
    expect(await ids('authenticator.*')).to.deep.equal(AUTHENTICATION.map(({ id }) => id));
    expect(await ids('auth.*')).to.deep.equal([]);
    expect(await ids('authenticator.')).to.deep.equal([]);
  });
});
