import { expect } from 'chai';
import { IMPORTING } from '../../core/testkit/clauses/importing.js';
import { importerSuite, runImporterClauses } from '../../core/testkit/index.js';
import { GOOD_IMPORT, IMPORTER_MUTANTS, timers } from '../support/testkit/importer-mutants.js';

importerSuite(GOOD_IMPORT);

describe('importer clauses', () => {
  afterEach(() => {
    for (const timer of timers.splice(0)) clearInterval(timer);
  });

  for (const { clause, defect, change } of IMPORTER_MUTANTS) {
    it(`${clause} catches an importer that ${defect}`, async () => {
      const subject = { ...GOOD_IMPORT, timeoutMs: 1_000, ...change };
      const [result, ...others] = await runImporterClauses(subject, { only: [clause] });
      expect(others).to.deep.equal([]);
      expect(result?.status, `${result?.reason}`).to.equal('fail');
    });
  }

  it('have at least one mutant each', () => {
    const caught = new Set(IMPORTER_MUTANTS.map(({ clause }) => clause));
    expect(IMPORTING.map(({ id }) => id).filter((id) => !caught.has(id))).to.deep.equal([]);
  });

  it('skip what belongs to the adapter of another plugin', async () => {
    const { adapter: _adapter, ...others } = GOOD_IMPORT;
    const results = await runImporterClauses(others);
    const skipped = results.filter(({ status }) => status === 'skip').map(({ id }) => id);
    expect(skipped).to.deep.equal(['importer.operations', 'importer.manifest']);
    expect(results.filter(({ status }) => status === 'fail')).to.deep.equal([]);
  });
});
