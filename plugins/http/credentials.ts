import { type OpenContext, Secret } from '../../core/contract/index.js';
import type { AuthConfig } from './config.js';

/** The header that authenticates the host to the provider. */
export interface Credentials {
  /** Lower case. */
  readonly name: string;
  readonly value: Secret;
}

/** A field value without obs-text (RFC 9110, 5.5), which every server reads alike. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

/** @throws Error when the secret is not a valid header value; the message names the key, not the value. */
export function readCredentials(
  config: AuthConfig | undefined,
  secret: OpenContext['secret'],
): Credentials | null {
  if (config === undefined) return null;
  const { bearer, basic, header } = config;
  if (bearer !== undefined) {
    return createCredentials('auth.bearer', 'authorization', `Bearer ${secret(bearer).reveal()}`);
  }
  if (basic !== undefined) {
    const pair = Buffer.from(`${basic.username}:${secret(basic.password).reveal()}`);
    return createCredentials('auth.basic', 'authorization', `Basic ${pair.toString('base64')}`);
  }
  if (header === undefined) return null;
  const value = secret(header.value).reveal();
  return createCredentials('auth.header', header.name.toLowerCase(), value);
}

function createCredentials(key: string, name: string, value: string): Credentials {
  if (!HEADER_VALUE.test(value)) {
    throw new Error(`${key} must resolve to one line of printable ASCII`);
  }
  return { name, value: new Secret(value) };
}
