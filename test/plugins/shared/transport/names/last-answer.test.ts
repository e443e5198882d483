import { expect } from 'chai';
import { LastAnswer } from '../../../../../plugins/shared/transport/names/last-answer.js';

describe('the last answer of a name', () => {
  const fail = (code: string) => async () => {
    throw Object.assign(new Error(code), { code });
  };

  it('is dropped after two in a row that report no records, whatever the failures before', async () => {
    const answer = new LastAnswer<string>(60_000);
    await answer.refresh(async () => ['192.0.2.1']);
    for (const code of ['ENOTFOUND', 'ESERVFAIL', 'ENODATA', 'ETIMEOUT', 'ENOTFOUND']) {
      await answer.refresh(fail(code));
      expect(answer.records, code).to.deep.equal(['192.0.2.1']);
    }
    await answer.refresh(async () => []);
    expect(answer.records).to.deep.equal([]);
  });
});
