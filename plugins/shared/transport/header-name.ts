import { define } from 'superstruct';
import { described, named } from '../../../core/contract/index.js';

/** RFC 9110, section 5.6.2: token. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** These headers frame the message or name the target; they cannot carry credentials. */
const NOT_FOR_CREDENTIALS =
  /^(?:connection|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-.*|modgate[-_].*)$/i;

export const headerName = named(
  'headerName',
  described(
    define<string>('name of a header', (value) => typeof value === 'string' && TOKEN.test(value)),
    { type: 'string', pattern: TOKEN.source },
  ),
);

export function isCredentialHeader(name: string): boolean {
  return !NOT_FOR_CREDENTIALS.test(name);
}
