import type { Authenticator, Credentials } from '../contract/index.js';
import type { GivenCredentials } from './authenticator-subject.js';

/** Adds the members that a host would pass. */
export function completeCredentials(partial: GivenCredentials): Credentials {
  const { scheme = '', token = '', method = 'GET', target = '/' } = partial;
  const headers = new Map(partial.headers ?? []);
  if (scheme !== '') headers.set('authorization', [`${scheme} ${token}`]);
  return { scheme, token, method, target, headers };
}

/** The headers that an authenticator reads. */
export function readHeadersOf({ reads }: Authenticator): readonly string[] {
  return reads ?? ['authorization'];
}

/** A part of credentials that holds a secret: the token, or the value of a header. */
interface SecretPart {
  readonly name: string;
  readonly value: string;
  /** Returns the same credentials with another value in this place. */
  replace(value: string): GivenCredentials;
}

/** The parts of the credentials that the authenticator reads. */
export function listSecretParts(
  credentials: GivenCredentials,
  authenticator: Authenticator,
): readonly SecretPart[] {
  const { scheme = '', token = '' } = credentials;
  const ofToken: SecretPart[] =
    scheme === ''
      ? []
      : [{ name: 'token', value: token, replace: (text) => ({ ...credentials, token: text }) }];
  const ofHeaders = readHeadersOf(authenticator).flatMap((name): SecretPart[] => {
    const [value] = credentials.headers?.get(name) ?? [];
    if (value === undefined || (name === 'authorization' && scheme !== '')) return [];
    const replace = (text: string) => {
      return { ...credentials, headers: new Map(credentials.headers).set(name, [text]) };
    };
    return [{ name, value, replace }];
  });
  return [...ofToken, ...ofHeaders];
}
