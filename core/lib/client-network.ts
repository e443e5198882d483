import { isIPv6 } from 'node:net';
import { normalizeAddress, splitGroups } from './address-list.js';

const NETWORK_GROUPS = 4;

/**
 * Names the network that one client may own: an IPv4 address, or the /64 network of an IPv6
 * address, which belongs to one subscriber.
 */
export function nameNetwork(address: string): string {
  const plain = normalizeAddress(address.split('%', 1)[0] ?? '') ?? address;
  return isIPv6(plain) ? splitGroups(plain).slice(0, NETWORK_GROUPS).join(':') : plain;
}
