import { expect } from 'chai';
import { createUuidSource } from '../../core/lib/uuid-v7.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const uuidV7 = createUuidSource();

describe('a UUID version 7', () => {
  it('has the form of RFC 9562 and the time that it was made', () => {
    const before = Date.now();
    const id = uuidV7();
    expect(id).to.match(UUID_V7);
    const ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
    expect(ms).to.be.within(before, Date.now());
  });

  it('stands behind the prefix of its source', () => {
    const source = createUuidSource('corr_');
    for (const id of [source(), source()]) {
      expect(id.slice(0, 5)).to.equal('corr_');
      expect(id.slice(5)).to.match(UUID_V7);
    }
  });

  it('is another each time', () => {
    const ids = Array.from({ length: 20_000 }, uuidV7);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.match(UUID_V7);
  });

  it('has every random digit everywhere', () => {
    const ids = Array.from({ length: 2000 }, uuidV7);
    for (const at of [15, 16, 17, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35]) {
      expect(new Set(ids.map((id) => id[at])).size, `at ${at}`).to.equal(16);
    }
    expect(new Set(ids.map((id) => id[19])).size).to.equal(4);
  });
});
