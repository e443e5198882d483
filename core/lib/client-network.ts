import { isIPv6 } from 'node:net';
import { normalizeAddress, splitGroups } from './address-list.js';

const NETWORK_GROUPS = 4;
/** Of addresses of IPv4 behind a translator (RFC 6052, RFC 8215): all share one /64. */
const TRANSLATED = '64:ff9b:';

/**
 * Names the network that one client may own: an IPv4 address, also in its translated form, or the
 * /64 network of an IPv6 address, which belongs to one subscriber.
 */
export function nameNetwork(address: string): string {
  const plain = normalizeAddress(address.split('%', 1)[0] ?? '') ?? address;
  if (plain.startsWith(TRANSLATED)) return plain;
  return isIPv6(plain) ? splitGroups(plain).slice(0, NETWORK_GROUPS).join(':') : plain;
}
