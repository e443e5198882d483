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

  it('are not joined when they are large, which would take long in one turn', () => {
    const pieces = new BodyPieces();
    const piece = Buffer.alloc(8192, 'a');
    for (let index = 0; index < 1000; index += 1) pieces.add(piece);
    expect(pieces.list.every((kept) => kept === piece)).to.equal(true);
    for (let index = 0; index < 1000; index += 1) pieces.add(Buffer.of(1));
    expect(pieces.list.length).to.be.below(1300);
    expect(pieces.length).to.equal(8_193_000);
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
