import { expect } from 'chai';
import fc from 'fast-check';
import { encodeInSlices } from '../../core/lib/json/encode-in-slices.js';

describe('encodeInSlices', () => {
  it('writes what JSON.stringify writes', () =>
    fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.oneof(fc.constant(undefined), fc.jsonValue())),
        async (value) => {
          const pieces = await encodeInSlices(value);
          expect(Buffer.concat(pieces).toString()).to.equal(JSON.stringify(value));
        },
      ),
    ));

  it('writes a long list in pieces', async () => {
    const value = { list: Array.from({ length: 20_000 }, (_, id) => ({ id, name: `é${id}` })) };
    const pieces = await encodeInSlices(value);
    expect(pieces.length).to.be.above(5);
    expect(Buffer.concat(pieces).toString()).to.equal(JSON.stringify(value));
  });
});
