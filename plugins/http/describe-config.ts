import type { ConfigDescription, TokenExchange } from '../../core/contract/index.js';
import type { AuthConfig, HttpConfig, UnixConfig } from './config.js';
import { type EndpointEntry, endpointUrl, isNamed, pathPrefix } from './endpoint-config.js';
import type { ExchangeConfig } from './oauth2-config.js';

type CommonConfig = Pick<UnixConfig, 'auth' | 'health'>;

/** What the config of either kind means for the host. */
export function describeCommon({ auth = {}, health }: CommonConfig): ConfigDescription {
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

export function describeHttp(config: HttpConfig): ConfigDescription {
  const { endpoints } = config;
  return {
    ...describeCommon(config),
    // Without those of a file.
    ...(Array.isArray(endpoints) && { origins: endpoints.map(endpointOrigin) }),
    basePath: readBasePath(config),
  };
}

function describeExchange(
  { issuer, token_url: tokenUrl, host }: ExchangeConfig,
  health: CommonConfig['health'],
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

/** As the descriptor names it, without the addresses of a name. */
function endpointOrigin(entry: EndpointEntry): string {
  if (!isNamed(entry)) return new URL(endpointUrl(entry)).origin;
  const { scheme = 'http' } = entry;
  return 'dns' in entry ? `${scheme}://${entry.dns}:${entry.port}` : `${scheme}://${entry.srv}`;
}

/** A file of endpoints is not read. */
function readBasePath({ endpoints }: HttpConfig): string {
  const [first] = Array.isArray(endpoints) ? endpoints : [];
  if (first === undefined) return '';
  if (isNamed(first)) return first.path?.replace(/\/$/, '') ?? '';
  return pathPrefix(new URL(endpointUrl(first)));
}
