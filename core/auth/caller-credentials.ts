import type { Credentials } from '../contract/index.js';

/** What a request presents. */
export interface CallerCredentials extends Credentials {
  /** The address of the client, where it is known. */
  readonly address?: string | undefined;
}

/** The credentials of a request with a bearer token alone. */
export function createBearerCredentials(
  token: string,
  { method, target }: Pick<Credentials, 'method' | 'target'> = { method: 'GET', target: '/' },
): CallerCredentials {
  const headers = new Map([['authorization', [`Bearer ${token}`]]]);
  return { scheme: 'bearer', token, method, target, headers };
}
