import { BlockList, isIPv6 } from 'node:net';

/** Addresses of the host's machine, or of its cloud's metadata service. */
const LOCAL = new BlockList();
// RFC 1122, 3.2.1.3: this network, with the unspecified address, and loopback.
LOCAL.addSubnet('0.0.0.0', 8);
LOCAL.addSubnet('127.0.0.0', 8);
LOCAL.addSubnet('169.254.0.0', 16);
LOCAL.addSubnet('224.0.0.0', 4);
LOCAL.addAddress('255.255.255.255');
// The unspecified address, loopback, and other IPv4 addresses in the form that RFC 4291 deprecates.
LOCAL.addSubnet('::', 96, 'ipv6');
LOCAL.addSubnet('fe80::', 10, 'ipv6');
LOCAL.addSubnet('ff00::', 8, 'ipv6');
// NAT64 (RFC 6052) of the IPv4 addresses above.
LOCAL.addSubnet('64:ff9b::', 104, 'ipv6');
LOCAL.addSubnet('64:ff9b::7f00:0', 104, 'ipv6');
LOCAL.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
LOCAL.addSubnet('64:ff9b::e000:0', 100, 'ipv6');
// The metadata service of EC2, which has a unique local address.
LOCAL.addAddress('fd00:ec2::254', 'ipv6');

/**
 * Matches loopback, link-local, multicast and unspecified addresses, including IPv4 addresses in
 * IPv6.
 */
export function isLocalAddress(address: string): boolean {
  return LOCAL.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
