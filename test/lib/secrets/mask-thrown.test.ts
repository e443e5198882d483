import { expect } from 'chai';
import { createSecretMask } from '../../../core/lib/secrets/mask-secrets.js';
import { maskThrown } from '../../../core/lib/secrets/mask-thrown.js';

const SECRET = 'the-password-of-a-store';
const mask = createSecretMask([SECRET]);

describe('the mask of what a plugin throws', () => {
  it('removes secrets from all texts of an error and of its causes', () => {
    const innermost = Object.assign(new TypeError(SECRET), { code: `E_${SECRET}` });
    const cause = new Error(`postgres://u:${SECRET}@h`, { cause: innermost });
    const thrown = Object.assign(new Error('cannot connect', { cause }), { hint: SECRET });
    const masked = maskThrown(thrown, mask);
    const inner = masked.cause as Error;
    const found = [masked, inner, inner.cause as Error];
    expect(found.map(({ message }) => message)).to.deep.equal([
      'cannot connect',
      'postgres://u:[redacted]@h',
      '[redacted]',
    ]);
    expect(found.map(({ stack }) => stack).join()).to.include('TypeError: [redacted]');
    expect(found.map(({ stack }) => stack).join()).to.not.include(SECRET);
    expect(masked).to.include({ hint: '[redacted]' });
    expect(inner.cause).to.include({ code: 'E_[redacted]', name: 'TypeError' });
  });

  it('keeps what the host reads of an error', () => {
    const members = { code: 'EMFILE', hint: 'close some files' };
    expect(maskThrown(Object.assign(new Error(SECRET), members), mask)).to.include(members);
  });

  it('removes secrets from a value that is no error', () => {
    const masked = maskThrown(`no ${SECRET}`, mask);
    expect(masked.message).to.equal('it threw a value that is not an error');
    expect(masked.cause).to.equal('no [redacted]');
    expect(maskThrown({ SECRET }, mask).cause).to.equal(undefined);
  });

  it('never throws', () => {
    const cycle = new Error('a cycle');
    cycle.cause = cycle;
    const getter = Object.defineProperty(new Error(), 'message', {
      get: () => {
        throw new Error('a getter');
      },
    });
    const messageOf = (thrown: unknown) => maskThrown(thrown, mask).message;
    expect(messageOf(cycle)).to.equal('a cycle');
    expect(messageOf(getter)).to.equal('it threw an error that cannot be read');
    expect(messageOf(Object.assign(new Error(), { message: 42 }))).to.equal('42');
  });
});
