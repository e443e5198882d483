/** Cookies of the host itself, such as the session of its console. They count on its own pages only. */
const OWN_COOKIE = /^(?:__host-|__secure-)?modgate(?:$|[-_.])/i;

/** A `cookie` header without the cookies of the host; empty if no other is left. */
export function removeOwnCookies(header: string): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !OWN_COOKIE.test(pair.split('=', 1)[0]?.trim() ?? ''))
    .join('; ');
}
