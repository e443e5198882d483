import { expect } from 'chai';
import type { Outcome } from '../../core/contract/index.js';
import { checkOutcome } from '../../core/provider/outcome.js';

const check = (body: Outcome['body']) => checkOutcome({ status: 200, headers: {}, body }, 4);

describe('response body', () => {
  it('is a list of pieces, for every form that adapters return', () => {
    const [one, other] = [Buffer.from('ab'), Buffer.from('cd')];
    expect(check(null)).to.deep.include({ pieces: [], length: 0 });
    expect(check([])).to.deep.include({ pieces: [], length: 0 });
    expect(check(one)).to.deep.include({ pieces: [one], length: 2 });
    expect(check([one, other])).to.deep.include({ pieces: [one, other], length: 4 });
  });

  it('has at most `response_bytes` bytes', () => {
    expect(check([Buffer.alloc(2), Buffer.alloc(2)]).length).to.equal(4);
    for (const body of [Buffer.alloc(5), [Buffer.alloc(2), Buffer.alloc(3)]]) {
      expect(() => check(body)).to.throw('over limits.response_bytes');
    }
  });

  it('has only pieces that are bytes', () => {
    for (const body of ['{}', ['{}'], [Buffer.from('{'), null], {}, 7, undefined]) {
      expect(() => check(body as never)).to.throw('a body that is not bytes');
    }
  });

  it('does not change after the adapter has returned it', () => {
    const pieces = [Buffer.from('ab')];
    const checked = check(pieces);
    pieces.push(Buffer.alloc(1_000));
    expect(checked).to.deep.include({ pieces: [Buffer.from('ab')], length: 2 });
  });
});
