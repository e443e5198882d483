import type { AuthenticatorChoice } from '../config/authenticator-list.js';
import type { HostConfig } from '../config/settings.js';
import type { Authenticator, Log } from '../contract/index.js';
import { assertValidFile } from '../document/parse-file.js';
import { ConfigError } from '../errors.js';
import { isLoopbackAddress } from '../lib/loopback.js';
import { createCheckedAuthenticator } from './checked-authenticator.js';
import { createDevAuthenticator } from './dev-tokens.js';
import { type AuthenticatorSource, openPluginAuthenticator } from './plugin-authenticator.js';
import { openTokensAuthenticator } from './static-tokens.js';

export interface Authenticators {
  /** In the order they are asked: the first actor wins. */
  readonly chain: readonly Authenticator[];
  /** True when anybody who reaches the host can be anybody. */
  readonly hasDevTokens: boolean;
  /** Ends what watches files. */
  close(): Promise<void>;
}

/** A part of the chain, and how it ends. */
interface Link {
  readonly chain: readonly Authenticator[];
  close(): Promise<void>;
}

/** An authenticator of the host itself. */
interface BuiltIn {
  isConfigured(config: HostConfig): boolean;
  /** Why the chain cannot name it, when it is not configured. */
  readonly missing: string;
  /** Whether it must not be left out of a chain that is configured. */
  readonly isExplicit: boolean;
  open(config: HostConfig, log: Log): Promise<Link>;
}

/** In the order in which they are asked where no chain is configured. */
const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  [
    'dev',
    {
      isConfigured: ({ env }) => env === 'development',
      missing: 'dev tokens are for --env development alone',
      isExplicit: false,
      open: async () => ({ chain: [createDevAuthenticator()], close: async () => {} }),
    },
  ],
  [
    'tokens',
    {
      isConfigured: ({ tokens }) => tokens !== null,
      missing: 'it needs a tokens file: name one with --tokens FILE (or MODGATE_TOKENS)',
      isExplicit: true,
      open: openTokens,
    },
  ],
  [
    'issuers',
    {
      isConfigured: ({ issuers }) => issuers !== null,
      missing: 'it needs an issuers file: name one with --issuers FILE (or MODGATE_ISSUERS)',
      isExplicit: true,
      open: openIssuers,
    },
  ],
]);

const NO_PLUGINS: AuthenticatorSource = {
  authenticator: async () => {
    throw new Error('no plugin has that authenticator');
  },
};

/**
 * The authenticators that the configuration asks for: those of the chain in its order, else `dev` in
 * development, `tokens` with a tokens file, and those of an issuers file.
 * @throws ConfigError when there would be none, when dev tokens could be used from another machine, when
 * one of them cannot be used, and for a file that is missing or bad.
 */
export async function createAuthenticators(
  config: HostConfig,
  log: Log,
  plugins: AuthenticatorSource = NO_PLUGINS,
): Promise<Authenticators> {
  const choices = chooseAuthenticators(config);
  const hasDevTokens = choices.some(({ name }) => name === 'dev');
  if (hasDevTokens) assertCredentialsRequired(config);
  const links: Link[] = [];
  const close = async () => {
    for (const link of links.toReversed()) await link.close();
  };
  try {
    for (const choice of choices) links.push(await openLink(choice, config, log, plugins));
  } catch (error) {
    await close();
    throw error;
  }
  return { chain: links.flatMap(({ chain }) => chain), hasDevTokens, close };
}

function chooseAuthenticators(config: HostConfig): readonly AuthenticatorChoice[] {
  const configured = [...BUILT_IN].filter(([, builtIn]) => builtIn.isConfigured(config));
  if (config.authenticators === null) {
    if (configured.length === 0 && config.tlsClients === null)
      throw assertAuthenticatorConfigured();
    return configured.map(([name]) => ({ name, config: {}, directory: '.' }));
  }
  for (const [name, { isExplicit }] of configured) {
    const isLeftOut = !config.authenticators.some((choice) => choice.name === name);
    if (!isLeftOut || !isExplicit) continue;
    throw new ConfigError(
      `'${name}' is configured and --authenticators does not name it: add it to the list, or remove what configures it`,
    );
  }
  return config.authenticators;
}

async function openLink(
  choice: AuthenticatorChoice,
  config: HostConfig,
  log: Log,
  plugins: AuthenticatorSource,
): Promise<Link> {
  const { name } = choice;
  const builtIn = BUILT_IN.get(name);
  if (builtIn === undefined) {
    const { authenticator, scope } = await openPluginAuthenticator(choice, plugins, log);
    return { chain: [authenticator], close: () => scope.close() };
  }
  if (!builtIn.isConfigured(config)) {
    throw new ConfigError(`authenticator '${name}' cannot be used: ${builtIn.missing}`);
  }
  const link = await builtIn.open(config, log);
  return { ...link, chain: link.chain.map((one) => createCheckedAuthenticator(one, log)) };
}

function assertCredentialsRequired(config: HostConfig): void {
  if (config.allowDevAuthAnywhere || isLoopbackAddress(config.host)) return;
  throw new ConfigError(
    'with --env development the host listens on loopback only, since anybody can make a dev token: ' +
      'use --host 127.0.0.1, or --allow-dev-auth-anywhere if you mean it',
  );
}

function assertAuthenticatorConfigured(): ConfigError {
  return new ConfigError(
    'no authenticator is configured, so nobody could call: name a tokens file with --tokens FILE ' +
      '(or MODGATE_TOKENS), the issuers of tokens with --issuers FILE, or the certificates of callers ' +
      'with --tls-clients FILE, or use --env development on your own machine',
  );
}

async function openTokens({ tokens }: HostConfig, log: Log): Promise<Link> {
  try {
    const authenticator = await openTokensAuthenticator(tokens ?? '', { log });
    return { chain: [authenticator], close: () => authenticator.close() };
  } catch (error) {
    throw assertValidFile(error);
  }
}

async function openIssuers({ issuers }: HostConfig, log: Log): Promise<Link> {
  // Imported where it is configured: a host with a tokens file starts without it.
  const { openIssuersAuthenticators } = await import('./issuers.js');
  try {
    return await openIssuersAuthenticators(issuers ?? '', { log, environment: process.env });
  } catch (error) {
    throw assertValidFile(error);
  }
}
