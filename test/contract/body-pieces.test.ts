import { expect } from 'chai';
import { BodyPieces } from '../../core/contract/body-pieces.js';

describe('pieces of a body', () => {
  it('are joined when they are small', () => {
    const pieces = new BodyPieces();
    const sent = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256));
    for (const byte of sent) pieces.add(Buffer.of(byte));
    expect(pieces.list.length).to.be.below(1000);
    expect(Buffer.concat(pieces.list).equals(sent)).to.equal(true);
  });

  it('keep their order and length', () => {
    const pieces = new BodyPieces();
    const sent = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 251));
    for (const byte of sent) pieces.add(Buffer.of(byte));
    expect(pieces.length).to.equal(3000);
    expect(pieces.join().equals(sent)).to.equal(true);
  });

  it('are not copied if there is one', () => {
    const pieces = new BodyPieces();
    const only = Buffer.from('abc');
    pieces.add(only);
    expect(pieces.join()).to.equal(only);
  });
});
