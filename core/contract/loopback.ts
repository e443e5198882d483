import { BlockList, isIP, isIPv6 } from 'node:net';

/** Includes IPv4 addresses in IPv6. */
const ADDRESSES = new BlockList();
ADDRESSES.addSubnet('127.0.0.0', 8);
ADDRESSES.addAddress('::1', 'ipv6');

/** Whether a listener on this address or name is reachable from this machine only. */
export function isLoopbackAddress(host: string): boolean {
  if (isIP(host) === 0) return host.toLowerCase() === 'localhost';
  return ADDRESSES.check(host, isIPv6(host) ? 'ipv6' : 'ipv4');
}

/** Whether the host of a URL is loopback. No data leaves the machine, so it requires no TLS. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''));
}
