import { readMember } from '../lib/read-member.js';
import type { DescriptorAdapter } from './descriptor.js';

export const EXCHANGE_PATH = ['provider', 'config', 'auth', 'exchange'] as const;

/** The settings for tokens on behalf of callers. */
interface ExchangeSettings {
  /** The issuer of the tokens that are exchanged. */
  readonly issuer: string;
  /** `null` for the endpoint that discovery names. */
  readonly tokenUrl: string | null;
  /** Whether the host's own requests have a token. */
  readonly hasHost: boolean;
}

/**
 * The token exchange in the config of a provider; `null` without one. With an exchange each caller
 * has separate credentials for the provider, so responses must not be shared.
 */
export function readExchange(
  config: unknown,
  { supports }: Pick<DescriptorAdapter, 'supports'>,
): ExchangeSettings | null {
  if (supports.exchange !== true) return null;
  const exchange = readMember(readMember(config, 'auth'), 'exchange');
  const issuer = readMember(exchange, 'issuer');
  if (typeof issuer !== 'string') return null;
  const tokenUrl = readMember(exchange, 'token_url');
  return {
    issuer,
    tokenUrl: typeof tokenUrl === 'string' ? tokenUrl : null,
    hasHost: readMember(exchange, 'host') !== undefined,
  };
}
