import { matching, named } from '../../../core/contract/index.js';

/** RFC 9110, section 5.6.2: token. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** These headers frame the message or name the target; they cannot carry credentials. */
const NOT_FOR_CREDENTIALS =
  /^(?:connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-.*|modgate[-_].*)$/i;

export const headerName = named('headerName', matching('name of a header', TOKEN));

export function isCredentialHeader(name: string): boolean {
  return !NOT_FOR_CREDENTIALS.test(name);
}
