import { expect } from 'chai';
import { isInRanges, normalizeAddress, parseRange } from '../../core/lib/address-list.js';
import { nameNetwork } from '../../core/lib/client-network.js';

describe('addresses', () => {
  it('have one usual form', () => {
    expect(normalizeAddress('192.0.2.1')).to.equal('192.0.2.1');
    expect(normalizeAddress('::ffff:192.0.2.1')).to.equal('192.0.2.1');
    expect(normalizeAddress('::FFFF:c000:201')).to.equal('192.0.2.1');
    expect(normalizeAddress('2001:0DB8:0:0::1')).to.equal('2001:db8::1');
  });

  it('do not match other texts', () => {
    const texts = ['', 'unknown', '192.0.2', '192.0.2.01', '192.0.2.256', 'fe80::1%eth0', '::1/64'];
    for (const text of texts) expect(normalizeAddress(text), text).to.equal(null);
  });

  it('belong to the /64 network of one client', () => {
    expect(nameNetwork('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2');
    expect(nameNetwork('2001:db8::6')).to.equal(nameNetwork('2001:0DB8:0:0:ffff::'));
    expect(nameNetwork('::ffff:c000:201')).to.equal(nameNetwork('192.0.2.1'));
    expect(nameNetwork('fe80::1%eth0')).to.equal('fe80:0:0:0');
  });

  it('have networks of their own behind a translator of IPv4', () => {
    for (const prefix of ['64:ff9b::', '64:ff9b:1::', '64:ff9b:1:abcd::']) {
      const network = nameNetwork(`${prefix}192.0.2.1`);
      expect(network).to.equal(nameNetwork(`${prefix.toUpperCase()}C000:201`));
      expect(network, prefix).not.to.equal(nameNetwork(`${prefix}192.0.2.2`));
    }
    expect(nameNetwork('64:ff9c::1')).to.equal(nameNetwork('64:ff9c::2'));
  });
});

describe('a range of addresses', () => {
  it('is an address, or its fixed bits and their number', () => {
    const ranges = ['10.0.0.0/8', '0.0.0.0/0', '192.0.2.1', '::/0', '2001:db8::/32', 'fe80::/10'];
    for (const text of ranges) expect(parseRange(text), text).to.not.have.property('reason');
  });

  it('has no bits behind its prefix', () => {
    const meant = (text: string) => (parseRange(text) as { meant: string | null }).meant;
    expect(meant('10.0.0.1/8')).to.equal('10.0.0.0/8');
    expect(meant('192.0.2.77/26')).to.equal('192.0.2.64/26');
    expect(meant('2001:db8::1/64')).to.equal('2001:db8::/64');
    expect(meant('::ffff:10.0.0.0/104')).to.equal('10.0.0.0/8');
  });

  it('does not match other texts', () => {
    const texts = ['', 'a', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/08', '10.0.0/8', '::/129', '*'];
    for (const text of texts) expect(parseRange(text), text).to.have.property('reason');
  });

  it('holds the addresses of its own family alone', () => {
    const list = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'];
    for (const address of ['10.255.0.1', '2001:db8:ffff::1', '192.0.2.1']) {
      expect(isInRanges(address, list), address).to.equal(true);
    }
    for (const address of ['11.0.0.1', '2001:db9::1', '192.0.2.2', 'unknown', '']) {
      expect(isInRanges(address, list), address).to.equal(false);
    }
    expect(isInRanges('192.0.2.1', ['::/0'])).to.equal(false);
    expect(isInRanges('2001:db8::1', ['0.0.0.0/0'])).to.equal(false);
  });
});
