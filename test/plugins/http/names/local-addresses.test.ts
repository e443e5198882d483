import { expect } from 'chai';
import { isLocalAddress } from '../../../../plugins/http/names/local-addresses.js';

describe('local addresses', () => {
  for (const address of [
    ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '169.254.169.254', '169.254.0.1'],
    ...['224.0.0.1', '239.255.255.255', '255.255.255.255'],
    ...['::1', '::', '::7f00:1', 'fe80::1', 'febf::1', 'ff02::1', 'fd00:ec2::254'],
    ...['::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe'],
  ]) {
    it(`include ${address}`, () => {
      expect(isLocalAddress(address)).to.equal(true);
    });
  }

  for (const address of [
    ...['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '1.0.0.1', '169.253.0.1'],
    ...['126.255.255.255', '128.0.0.1', '223.255.255.255', '2001:db8::1', 'fd00::1', 'fec0::1'],
    ...['::ffff:10.0.0.1', '64:ff9b::a00:1'],
  ]) {
    it(`leave out ${address}`, () => {
      expect(isLocalAddress(address)).to.equal(false);
    });
  }
});
