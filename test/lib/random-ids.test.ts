import { expect } from 'chai';
import { createUuid, randomHex } from '../../core/lib/random-ids.js';

const MANY = 2000;
const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('random ids', () => {
  it('are UUIDs of version 4, of which none comes twice', () => {
    const ids = Array.from({ length: MANY }, createUuid);
    for (const id of ids) expect(id).to.match(UUID_4);
    expect(new Set(ids)).to.have.property('size', MANY);
  });

  it('use every digit in every place that is random', () => {
    const ids = Array.from({ length: MANY }, createUuid);
    for (let place = 0; place < 36; place += 1) {
      const fixed = { 8: 1, 13: 1, 14: 1, 18: 1, 19: 4, 23: 1 }[place];
      const digits = new Set(ids.map((id) => id[place]));
      expect(digits.size, `place ${place}`).to.equal(fixed ?? 16);
    }
  });

  it('are digits of the wanted length beside UUIDs', () => {
    const texts = Array.from({ length: MANY }, (_, index) => {
      if (index % 3 === 0) createUuid();
      return randomHex(8);
    });
    for (const text of texts) expect(text).to.match(/^[0-9a-f]{16}$/);
    expect(new Set(texts)).to.have.property('size', MANY);
  });
});
