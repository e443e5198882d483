import { readMember } from '../lib/read-member.js';
import type { DescriptorAdapter } from './descriptor.js';

export const EXCHANGE_PATH = ['provider', 'config', 'auth', 'exchange'] as const;

/** How a provider gets tokens on behalf of callers. */
export interface ExchangeSettings {
  /** Whose tokens are exchanged. */
  readonly issuer: string;
  /** `null`: the one that discovery names. */
  readonly tokenUrl: string | null;
  /** Whether requests of the host itself have a token. */
  readonly hasHost: boolean;
}

/**
 * The token exchange that the config of a provider asks for; `null` without one. Then each caller has its own
 * credentials for the provider, so that no response may be given to another caller.
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
