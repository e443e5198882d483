// Four numbers without leading zeros: parsers disagree about other spellings (`127.1`, `0177.0.0.1`,
// `0x7f000001`), so they are not loopback here.
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const LOOPBACK_IPV4 = `127(?:\\.${OCTET}){3}`;
const HOST_HEADER = new RegExp(`^(?:localhost|${LOOPBACK_IPV4}|\\[::1\\])(?::(\\d{1,5}))?$`, 'i');
const MAX_PORT = 65_535;

/** Headers that proxies add to a request. Many servers treat `x_y` and `x-y` as one name. */
const ADDED_BY_PROXIES = /^(?:forwarded|via|x[-_]real[-_]ip|x[-_]forwarded[-_].*)$/i;

/** Whether a header indicates that a proxy has forwarded the request. */
export function isProxyHeader(name: string): boolean {
  return ADDED_BY_PROXIES.test(name);
}

export function isLoopbackOrigin(publicUrl: string | null): boolean {
  return publicUrl === null || isLoopbackHostHeader(new URL(publicUrl).host);
}

/**
 * Whether a `host` header names loopback: `localhost`, `127.0.0.0/8` as four decimal numbers, or
 * `[::1]`, each with an optional port. A web page could rebind any other name to 127.0.0.1.
 */
export function isLoopbackHostHeader(value: string | undefined): boolean {
  const match = value === undefined ? null : HOST_HEADER.exec(value);
  return match !== null && Number(match[1] ?? 0) <= MAX_PORT;
}
