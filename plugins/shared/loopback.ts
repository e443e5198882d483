import { isLoopbackUrl } from '../../core/contract/loopback.js';

/** Whether secrets may be sent to the URL: https, or http on loopback. */
export function isProtected(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackUrl(url));
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
