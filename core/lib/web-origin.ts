import { isLoopbackHostHeader } from './loopback.js';

/** An origin exactly as browsers send it: scheme, lower-case host and no default port. */
export function isOrigin(text: string): boolean {
  // `https://*.app.example` is a URL, but would match nothing.
  if (!/^https?:\/\/[^*]+$/.test(text)) return false;
  return URL.canParse(text) && new URL(text).origin === text;
}

const APP_ORIGIN =
  /^(?!(?:file|data|https?):)[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(?::[1-9]\d{0,4})?$/;

/** An origin of a page, or of an app or extension: `capacitor://localhost`, `chrome-extension://abc`. */
export function isPageOrigin(text: string): boolean {
  return isOrigin(text) || APP_ORIGIN.test(text);
}

/** An origin with TLS, or on loopback. */
export function isTrustworthyOrigin(text: string): boolean {
  return isOrigin(text) && (text.startsWith('https:') || isLoopbackHostHeader(new URL(text).host));
}
