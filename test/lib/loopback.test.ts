import { expect } from 'chai';
import { isLoopbackAddress } from '../../core/contract/loopback.js';
import { isLoopbackHostHeader } from '../../core/lib/loopback.js';

describe('isLoopbackAddress', () => {
  const LOOPBACK = [
    '127.0.0.1',
    '127.255.255.254',
    'localhost',
    'LocalHost',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
  ];
  for (const host of LOOPBACK) {
    it(`accepts ${host}`, () => expect(isLoopbackAddress(host)).to.equal(true));
  }

  const OTHERS = [
    '',
    '0.0.0.0',
    '::',
    '::2',
    '::ffff:10.0.0.1',
    '10.0.0.1',
    '128.0.0.1',
    '127.1',
    '127.0.0.01',
    '127.0.0.256',
    '0177.0.0.1',
    '0x7f000001',
    '2130706433',
    'localhost.evil.com',
    'localhost.',
    'evil.localhost',
    '[::1]',
    ' 127.0.0.1',
    '127.0.0.1\n',
  ];
  for (const host of OTHERS) {
    it(`rejects ${JSON.stringify(host)}`, () => expect(isLoopbackAddress(host)).to.equal(false));
  }
});

describe('isLoopbackHostHeader', () => {
  const LOOPBACK = [
    'localhost',
    'LOCALHOST',
    'localhost:3000',
    '127.0.0.1',
    '127.0.0.1:0',
    '127.0.0.1:65535',
    '127.8.9.10:80',
    '[::1]',
    '[::1]:3000',
  ];
  for (const value of LOOPBACK) {
    it(`accepts ${value}`, () => expect(isLoopbackHostHeader(value)).to.equal(true));
  }

  const OTHERS = [
    undefined,
    '',
    'localhost.evil.com',
    'evil.com',
    'evil.com:3000',
    'evil-localhost',
    'localhost.',
    'localhost:',
    'localhost:65536',
    'localhost:99999999',
    'localhost:3000:3000',
    'localhost:+1',
    'localhost:1\n',
    'localhost@evil.com',
    'localhost/evil',
    ' localhost',
    'localhost, evil.com',
    '127.1',
    '127.0.0.1.evil.com',
    '127.0.0.1.',
    '127.0.0.256',
    '127.0.0.01',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '0.0.0.0',
    '10.0.0.1',
    '::1',
    '[::1',
    '[::2]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
  ];
  for (const value of OTHERS) {
    it(`rejects ${value === undefined ? 'an absent header' : JSON.stringify(value)}`, () =>
      expect(isLoopbackHostHeader(value)).to.equal(false));
  }
});
