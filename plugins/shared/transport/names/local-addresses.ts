import { BlockList, isIPv6 } from 'node:net';

/** Addresses of the host's machine, or of its cloud's metadata service. */
const LOCAL = new BlockList();
LOCAL.addSubnet('127.0.0.0', 8);
LOCAL.addSubnet('169.254.0.0', 16);
LOCAL.addSubnet('fe80::', 10, 'ipv6');
LOCAL.addSubnet('ff00::', 8, 'ipv6');
// Services of clouds with addresses that are not link-local: Alibaba, Azure, Oracle, AWS, Google,
// Scaleway.
LOCAL.addAddress('100.100.100.200');
LOCAL.addAddress('168.63.129.16');
LOCAL.addAddress('192.0.0.192');
LOCAL.addSubnet('fd00:ec2::', 32, 'ipv6');
LOCAL.addAddress('fd20:ce::254', 'ipv6');
LOCAL.addAddress('fd00:42::42', 'ipv6');

/** Addresses of no single machine; the unspecified one reaches the host itself. */
const NOWHERE = new BlockList();
NOWHERE.addSubnet('0.0.0.0', 8);
NOWHERE.addSubnet('224.0.0.0', 4);
NOWHERE.addAddress('255.255.255.255');

/** The IPv4 address within an IPv6 address, which is written as 32 hexadecimal digits. */
const EMBEDDED = [
  // IPv4-compatible, with `::` and `::1`, and IPv4-mapped (RFC 4291).
  /^0{20}(?:0000|ffff)(.{8})$/,
  // IPv4-translated (RFC 2765).
  /^0{16}ffff0000(.{8})$/,
  // NAT64 (RFC 6052).
  /^0064ff9b0{16}(.{8})$/,
  // NAT64 of a network (RFC 8215), whose prefix has 48, 56, 64 or 96 bits. Bits 64 to 71 are no
  // part of the IPv4 address.
  /^0064ff9b0001(.{4})..(.{4})/,
  /^0064ff9b0001..(..)..(.{6})/,
  /^0064ff9b0001.{6}(.{8})/,
  /^0064ff9b0001.{12}(.{8})/,
  // 6to4 (RFC 3056).
  /^2002(.{8})/,
  // ISATAP (RFC 5214).
  /^.{16}0[02]005efe(.{8})/,
  // The server of Teredo (RFC 4380).
  /^20010000(.{8})/,
];
/** The client of Teredo, all bits inverted. */
const INVERTED = /^20010000.{16}(.{8})/;

/**
 * Matches loopback, link-local, multicast and unspecified addresses, and those of metadata services,
 * also as IPv4 addresses in IPv6.
 */
export function isLocalAddress(address: string): boolean {
  if (!isIPv6(address)) return LOCAL.check(address) || NOWHERE.check(address);
  if (LOCAL.check(address, 'ipv6')) return true;
  const inner = listEmbedded(toDigits(address));
  if (inner.some((text) => LOCAL.check(text))) return true;
  // Only the network knows the length of its prefix: read with a wrong one, most addresses start
  // with 0.
  return inner.length > 0 && inner.every((text) => NOWHERE.check(text));
}

/** The IPv4 addresses that a network may read in an IPv6 address. */
function listEmbedded(digits: string): string[] {
  const inner = EMBEDDED.flatMap((pattern) => {
    const [, first, second = ''] = pattern.exec(digits) ?? [];
    return first === undefined ? [] : formatIPv4(first + second, 0);
  });
  const inverted = INVERTED.exec(digits)?.[1];
  return inverted === undefined ? inner : [...inner, formatIPv4(inverted, 0xff)];
}

function formatIPv4(digits: string, mask: number): string {
  return [...Buffer.from(digits, 'hex')].map((octet) => octet ^ mask).join('.');
}

/** The 32 digits of an IPv6 address. */
function toDigits(address: string): string {
  // Writes a dotted part as two groups.
  const { hostname } = new URL(`http://[${address}]`);
  const [before = '', after = ''] = hostname.slice(1, -1).split('::').map(padGroups);
  return before + after.padStart(32 - before.length, '0');
}

function padGroups(groups: string): string {
  return groups.replaceAll(/[^:]+:?/g, (group) => group.replace(':', '').padStart(4, '0'));
}
