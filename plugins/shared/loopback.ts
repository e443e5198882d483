/** Loopback requires no TLS, because no data leaves the machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Whether secrets may be sent to the URL: https, or http on loopback. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname));
}

/** A URL of an authorization server: {@link isProtected}, without credentials, query and fragment. */
export function isIssuerUrl(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return `${url.search}${url.hash}${url.username}${url.password}` === '' && isProtected(url);
}
