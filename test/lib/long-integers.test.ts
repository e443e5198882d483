import { expect } from 'chai';
import { writeLongIntegers } from '../../core/lib/json/long-integers.js';

const write = (json: string) => writeLongIntegers(JSON.stringify(JSON.parse(json)));

describe('writeLongIntegers', () => {
  for (const json of [
    '9223372036854775807',
    '-9223372036854775808',
    '18446744073709551615',
    '{"a":[9007199254740992,-9007199254740994]}',
    '[9223372036854774784,0]',
    '["9223372036854776000",12,0.1,1e+21,"\\"9223372036854776000"]',
    '{"9223372036854776000":1.2345678901234567}',
    '0.1234567890123456',
    '12345678901234.56',
    '1.1234567890123457e-7',
  ]) {
    it(`keeps ${json}`, () => {
      expect(write(json)).to.equal(json);
    });
  }

  it('writes an integer that a double cannot hold as the one that stands for it', () => {
    expect(write('[9007199254740993]')).to.equal('[9007199254740992]');
  });
});
