import { isIPv6, SocketAddress } from 'node:net';

// Four numbers without leading zeros: parsers disagree about other spellings (`127.1`, `0177.0.0.1`,
// `0x7f000001`), so they are not loopback here.
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const LOOPBACK_IPV4 = `127(?:\\.${OCTET}){3}`;
const IPV4 = new RegExp(`^(?:::ffff:)?${LOOPBACK_IPV4}$`);
const HOST_HEADER = new RegExp(`^(?:localhost|${LOOPBACK_IPV4}|\\[::1\\])(?::(\\d{1,5}))?$`, 'i');
const MAX_PORT = 65_535;

/** Whether a listener on this address or name is reachable from this machine only. */
export function isLoopbackAddress(host: string): boolean {
  const name = host.toLowerCase();
  if (name === 'localhost') return true;
  return IPV4.test(isIPv6(name) ? normalizeIPv6(name) : name) || normalizeIPv6(name) === '::1';
}

/** `0:0:0:0:0:0:0:1` becomes `::1`; anything but an IPv6 address becomes empty. */
function normalizeIPv6(text: string): string {
  return isIPv6(text) ? new SocketAddress({ address: text, family: 'ipv6' }).address : '';
}

/**
 * Whether a `host` header names loopback: `localhost`, `127.0.0.0/8` as four decimal numbers, or `[::1]`,
 * each with an optional port. Any other name could be one that a web page rebound to 127.0.0.1.
 */
export function isLoopbackHostHeader(value: string | undefined): boolean {
  const match = value === undefined ? null : HOST_HEADER.exec(value);
  return match !== null && Number(match[1] ?? 0) <= MAX_PORT;
}
