import type { ConfigDescription, TokenExchange } from '../../../core/contract/index.js';
import type { AuthConfig, ExchangeConfig, TransportConfig } from './transport-config.js';

type DescribedConfig = Pick<TransportConfig, 'auth' | 'health'>;

/** What the credentials of a config mean for the host. */
export function describeCredentials({ auth = {}, health }: DescribedConfig): ConfigDescription {
  const { exchange, signer, config = {} } = auth;
  return {
    hostUses: [],
    credentialHeaders: listCredentialHeaders(auth),
    ...(exchange && { exchange: describeExchange(exchange, health) }),
    ...(signer !== undefined && {
      signer: { path: ['auth', 'signer'], name: signer, configPath: ['auth', 'config'], config },
    }),
  };
}

function describeExchange(
  { issuer, token_url: tokenUrl, host }: ExchangeConfig,
  health: DescribedConfig['health'],
): TokenExchange {
  const settings = health?.path === undefined ? [] : ['health'];
  return {
    path: ['auth', 'exchange'],
    issuer,
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(host === undefined && {
      withoutCaller: { settings, hint: "set 'host: {}' for a token of the host" },
    }),
  };
}

/** A signer chooses its headers for each request. */
function listCredentialHeaders({ header, signer, ...others }: Partial<AuthConfig>): string[] {
  if (header !== undefined) return [header.name.toLowerCase()];
  const isPlain = signer !== undefined || Object.keys(others).length === 0;
  return isPlain ? [] : ['authorization'];
}
