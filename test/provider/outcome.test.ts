import { expect } from 'chai';
import type { Outcome } from '../../core/contract/index.js';
import { checkOutcome } from '../../core/provider/outcome.js';

const check = (body: Outcome['body']) => checkOutcome({ status: 200, headers: {}, body }, 4);

describe('checkOutcome', () => {
  it('returns the body as pieces', () => {
    const [first, other] = [Buffer.from('ab'), Buffer.from('cd')];
    expect(check(null)).to.deep.include({ pieces: [], length: 0 });
    expect(check([])).to.deep.include({ pieces: [], length: 0 });
    expect(check(first)).to.deep.include({ pieces: [first], length: 2 });
    expect(check([first, other])).to.deep.include({ pieces: [first, other], length: 4 });
  });

  it('rejects headers whose entries are no members', () => {
    const list = { 'content-type': 'application/json' };
    for (const headers of [new Headers(list), new Map(Object.entries(list)), []]) {
      const outcome = { status: 200, headers, body: null } as unknown as Outcome;
      expect(() => checkOutcome(outcome, 4)).to.throw(/use Object\.fromEntries\(headers\)$/);
    }
  });

  it('accepts a body up to limits.response_bytes', () => {
    expect(check([Buffer.alloc(2), Buffer.alloc(2)]).length).to.equal(4);
    for (const body of [Buffer.alloc(5), [Buffer.alloc(2), Buffer.alloc(3)]]) {
      expect(() => check(body)).to.throw(/over \d+ bytes$/);
    }
  });

  it('rejects a piece that is not bytes', () => {
    for (const body of ['{}', ['{}'], [Buffer.from('{'), null], {}, 7, undefined]) {
      expect(() => check(body as never)).to.throw('a body that is not bytes');
    }
  });

  it('copies the list of pieces', () => {
    const pieces = [Buffer.from('ab')];
    const checked = check(pieces);
    pieces.push(Buffer.alloc(1_000));
    expect(checked).to.deep.include({ pieces: [Buffer.from('ab')], length: 2 });
  });
});
