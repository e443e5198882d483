import { expect } from 'chai';
import { ProviderFailure } from '../../core/contract/index.js';
import { describeFailure } from '../../core/lib/failure-detail.js';

const describeDetail = (detail: string) =>
  describeFailure(new ProviderFailure('unavailable', 'message', { detail }));

describe('failure detail of an adapter', () => {
  it('is its detail, otherwise its message', () => {
    expect(describeDetail('ECONNREFUSED 10.0.0.7:4222')).to.equal('ECONNREFUSED 10.0.0.7:4222');
    expect(describeFailure(new ProviderFailure('unavailable', 'no link'))).to.equal('no link');
  });

  it('is the message of a failure of an older contract', () => {
    const { detail: _, ...members } = new ProviderFailure('protocol', 'no link');
    const older = Object.assign(new Error('no link'), members);
    Object.defineProperty(older, Symbol.for('modgate.provider-failure'), { value: true });
    expect(describeFailure(older)).to.equal('no link');
  });

  it('is only the name of an error that is not a failure', () => {
    expect(describeFailure(new TypeError('secret'))).to.equal('adapter threw TypeError');
    expect(describeFailure('secret')).to.equal('adapter threw a value that is not an error');
  });

  it('is one line of at most 200 characters', () => {
    expect(describeDetail('a\r\nb\u0007c\u2028d')).to.equal('a b c d');
    const long = describeDetail('x'.repeat(10_000));
    expect(long).to.have.length(200).and.match(/^x+…$/);
    expect(describeDetail(`${'x'.repeat(198)}\u{1f600}y`).isWellFormed()).to.equal(true);
  });

  it('has no credentials of a URL', () => {
    expect(describeDetail('no answer of https://user:hunter2@host/path')).to.equal(
      'no answer of https://host/path',
    );
  });
});
