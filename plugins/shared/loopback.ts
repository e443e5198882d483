/** Loopback requires no TLS, because no data leaves the machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Whether secrets may be sent to the URL: https, or http on loopback. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
}

/**
 * The URL of a token endpoint, which may have a query (RFC 6749, section 3.2): {@link isProtected},
 * without credentials and fragment.
 */
export function isTokenUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return `${url.hash}${url.username}${url.password}` === '' && isProtected(url);
}

/** A URL of an authorization server: {@link isTokenUrl}, without a query. */
export function isIssuerUrl(text: string): boolean {
  return isTokenUrl(text) && new URL(text).search === '';
}
