import { expect } from 'chai';
import type { RequestToSign } from '../../core/contract/index.js';
import { ADAPTER_CLAUSES } from '../../core/testkit/adapter-clauses.js';
import { runAdapterClauses, startHttpReference } from '../../core/testkit/index.js';
import { changeProvider, cleanUpAfterMutants, GOOD } from '../support/testkit/mutants/mutant.js';
import { MUTANTS, openConnectionsSlowly, respondSlowly } from '../support/testkit/mutants.js';
import { startTokenReference } from '../support/testkit/start-token-reference.js';

/** Shorter than the default, as some mutants hang. */
const TIMEOUT_MS = 700;

describe('adapter clauses', () => {
  afterEach(cleanUpAfterMutants);

  for (const { clause, defect, reason, adapter, start = startHttpReference } of MUTANTS) {
    it(`${clause} catches an adapter that ${defect}`, async () => {
      const [result, ...others] = await runAdapterClauses(
        { adapter, start, timeoutMs: TIMEOUT_MS, cycles: 100 },
        { only: [clause] },
      );
      expect(others).to.deep.equal([]);
      expect(result?.status, `${result?.reason}`).to.equal('fail');
      expect(result?.reason).to.match(reason);
    });
  }

  it('have at least one mutant each', () => {
    const caught = new Set(MUTANTS.map(({ clause }) => clause));
    expect(ADAPTER_CLAUSES.map(({ id }) => id).filter((id) => !caught.has(id))).to.deep.equal([]);
  });

  it('stop the reference although a scope does not close', async () => {
    let isStopped = false;
    const start: typeof startHttpReference = async (reference) => {
      const running = await startHttpReference(reference);
      const stop = async () => {
        await running.stop();
        isStopped = true;
      };
      return { ...running, stop };
    };
    const adapter = changeProvider((_good, { scope }) => {
      scope.defer(() => Promise.reject(new Error('a cleanup that fails')));
      return {};
    });
    const [result] = await runAdapterClauses({ adapter, start }, { only: ['request.no-body'] });
    expect(result?.status).to.equal('fail');
    expect(isStopped).to.equal(true);
  });

  it('accept an adapter that requests its credentials', async () => {
    const results = await runAdapterClauses(
      { adapter: GOOD, start: startTokenReference },
      { only: ['answer.secrets', 'failure.*'] },
    );
    const failed = results.filter(({ status }) => status === 'fail');
    expect(failed.map(({ id, reason }) => `${id}: ${reason}`)).to.deep.equal([]);
    const passed = results.filter(({ status }) => status === 'pass').map(({ id }) => id);
    expect(passed).to.include.members(['answer.secrets', 'failure.preparing']);
  });

  it('open an adapter with the signer of its reference', async () => {
    const signed: string[] = [];
    const start: typeof startHttpReference = async (reference) => {
      const { config, ...running } = await startHttpReference(reference);
      const sign = ({ url }: RequestToSign) => {
        signed.push(url);
        return { authorization: 'HMAC of tests' };
      };
      const auth = { signer: 'acme', config: {} };
      return { ...running, config: { ...(config as object), auth }, signer: { sign } };
    };
    const results = await runAdapterClauses({ adapter: GOOD, start }, { only: ['request.body'] });
    expect(results.map(({ reason }) => reason)).to.deep.equal([null]);
    expect(signed).to.have.lengthOf(3);
  });

  it('accept an adapter with a slow response beside a call that is cancelled', async () => {
    const [result] = await runAdapterClauses(
      { adapter: respondSlowly('/echo/well', 300), start: startHttpReference },
      { only: ['calls.no-unhandled-rejection'] },
    );
    expect(result).to.include({ status: 'pass', reason: null });
  });

  it('accept an adapter that has no endpoint to choose', async () => {
    const adapter = changeProvider(() => ({ endpoints: () => [] }));
    const results = await runAdapterClauses(
      { adapter, start: startHttpReference },
      { only: ['endpoints.shape', 'endpoints.balancing'] },
    );
    expect(results.map(({ status }) => status)).to.deep.equal(['pass', 'pass']);
  });

  it('accept an adapter whose connections take 150 ms to open', async () => {
    const [result] = await runAdapterClauses(
      { adapter: openConnectionsSlowly(150), start: startHttpReference },
      { only: ['calls.no-unhandled-rejection'] },
    );
    expect(result).to.include({ status: 'pass', reason: null });
  });
});
