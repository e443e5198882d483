import { ConfigError } from '../config/config-error.js';
import { refuseInvalidFile } from '../config/refuse-invalid-file.js';
import type { HostConfig } from '../config/settings.js';
import type { Authenticator, Log } from '../contract/index.js';
import { createDevAuthenticator } from './dev.js';
import { type IssuersAuthenticators, openIssuersAuthenticators } from './issuers.js';
import { isLoopbackAddress } from './loopback.js';
import { openTokensAuthenticator, type TokensAuthenticator } from './tokens.js';

export interface Authenticators {
  /** In the order they are asked: the first actor wins. */
  readonly chain: readonly Authenticator[];
  /** True when anybody who reaches the host can be anybody. */
  readonly hasDevTokens: boolean;
  /** Ends what watches files. */
  close(): Promise<void>;
}

/**
 * The authenticators that the configuration asks for: `dev` in development, `tokens` with a tokens file,
 * those of an issuers file.
 * @throws ConfigError when there would be none, when dev tokens could be used from another machine, and
 * for a file that is missing or bad.
 */
export async function createAuthenticators(config: HostConfig, log: Log): Promise<Authenticators> {
  const hasDevTokens = config.env === 'development';
  if (hasDevTokens) refuseOpenDoor(config);
  else requireAuthenticator(config);
  const tokens = config.tokens === null ? null : await openTokens(config.tokens, log);
  const issuers = config.issuers === null ? null : await openIssuers(config.issuers, log);
  const dev = hasDevTokens ? createDevAuthenticator() : null;
  return {
    chain: [dev, tokens, ...(issuers?.chain ?? [])].filter((one) => one !== null),
    hasDevTokens,
    close: async () => {
      await tokens?.close();
      await issuers?.close();
    },
  };
}

function refuseOpenDoor(config: HostConfig): void {
  if (config.allowDevAuthAnywhere || isLoopbackAddress(config.host)) return;
  throw new ConfigError(
    'with --env development the host listens on loopback only, since anybody can make a dev token: ' +
      'use --host 127.0.0.1, or --allow-dev-auth-anywhere if you mean it',
  );
}

function requireAuthenticator(config: HostConfig): void {
  if (config.tokens !== null || config.issuers !== null || config.tlsClients !== null) return;
  throw new ConfigError(
    'no authenticator is configured, so nobody could call: name a tokens file with --tokens FILE ' +
      '(or MODGATE_TOKENS), the issuers of tokens with --issuers FILE, or the certificates of callers ' +
      'with --tls-clients FILE, or use --env development on your own machine',
  );
}

async function openTokens(file: string, log: Log): Promise<TokensAuthenticator> {
  try {
    return await openTokensAuthenticator(file, { log });
  } catch (error) {
    throw refuseInvalidFile(error);
  }
}

async function openIssuers(file: string, log: Log): Promise<IssuersAuthenticators> {
  try {
    return await openIssuersAuthenticators(file, { log, environment: process.env });
  } catch (error) {
    throw refuseInvalidFile(error);
  }
}
