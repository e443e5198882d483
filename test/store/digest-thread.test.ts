import { expect } from 'chai';
import { digestWithoutBlocking } from '../../core/store/digest-thread.js';
import { digestValue } from '../../core/store/value-digest.js';

describe('digests of long values', () => {
  const key = null;

  it('are those of the main thread, also after one that failed', async () => {
    const json = JSON.stringify({ b: 'x'.repeat(40_000), a: 1.5 });
    const failed = digestWithoutBlocking({ json: `${json}}`, key });
    const next = digestWithoutBlocking({ json, key });
    expect(await failed.catch((error) => error)).to.be.an('error');
    expect(await next).to.equal(digestValue({ json, key }));
    expect(await digestWithoutBlocking({ json, key })).to.equal(digestValue({ json, key }));
  });
});
