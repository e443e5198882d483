import type { Credentials } from '../contract/index.js';

export interface CallerCredentials extends Credentials {
  /** The address of the client, if known. */
  readonly address?: string | undefined;
}

/** The credentials of a request whose only credential is a bearer token. */
export function createBearerCredentials(
  token: string,
  { method, target }: Pick<Credentials, 'method' | 'target'> = { method: 'GET', target: '/' },
): CallerCredentials {
  const headers = new Map([['authorization', [`Bearer ${token}`]]]);
  return { scheme: 'bearer', token, method, target, headers };
}
