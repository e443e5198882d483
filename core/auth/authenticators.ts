import type { AuthenticatorChoice } from '../config/authenticator-list.js';
import type { HostConfig } from '../config/settings.js';
import type { Authenticator, Log } from '../contract/index.js';
import { isLoopbackAddress } from '../contract/loopback.js';
import { assertValidFile } from '../document/parse-file.js';
import { ConfigError } from '../errors.js';
import { type Attempt, attemptOrThrow } from '../lib/attempt.js';
import { isLoopbackOrigin } from '../lib/loopback.js';
import { AcceptedTokens, type ExchangeIssuers } from './accepted-tokens.js';
import { type CheckedAuthenticator, createCheckedAuthenticator } from './checked-authenticator.js';
import { assertBasicUsable } from './credential-headers.js';
import { createDevAuthenticator } from './dev-tokens.js';
import { type AuthenticatorSource, openPluginAuthenticator } from './plugin-authenticator.js';
import { Roles } from './roles.js';
import { openTokensAuthenticator } from './static-tokens.js';

interface Authenticators {
  /** The authenticators in the order they are tried: the first actor wins. */
  readonly chain: readonly CheckedAuthenticator[];
  /** The issuers whose access tokens are accepted, as the issuers file lists them at startup. */
  readonly issuers: readonly string[];
  /** Whether any client that reaches the host can act as any actor. */
  readonly hasDevTokens: boolean;
  /** The roles of the roles file; empty without one. */
  readonly roles: Roles;
  /** The tokens that entries of the issuers file accept. */
  readonly tokens: AcceptedTokens;
  /** Stops watching files. */
  close(): Promise<void>;
}

interface Link<T = CheckedAuthenticator> {
  readonly chain: readonly T[];
  readonly issuers?: readonly string[];
  readonly exchange?: ExchangeIssuers;
  close(): Promise<void>;
}

interface OpenOptions {
  /**
   * Whether the host requests nothing from issuers, so that no token can be verified. Default
   * false.
   */
  readonly isOffline?: boolean;
  /** Receives each problem; the invalid part is omitted. Without it the first problem throws. */
  readonly attempt?: Attempt;
}

interface BuiltIn {
  isConfigured(config: HostConfig): boolean;
  /** The error if a configured chain names it and it is not configured. */
  readonly missing: string;
  /** Whether only a configured chain adds it. */
  readonly isExplicit: boolean;
  open(config: HostConfig, log: Log, options: OpenOptions): Promise<Link<Authenticator>>;
}

/** The built-in authenticators, in the order of the default chain. */
const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  [
    'dev',
    {
      isConfigured: ({ env }) => env === 'development',
      missing: 'dev tokens require --env development',
      isExplicit: false,
      open: async (config) => ({
        chain: [createDevAuthenticator(devTokenScope(config))],
        close: async () => {},
      }),
    },
  ],
  [
    'tokens',
    {
      isConfigured: ({ tokens }) => tokens !== null,
      missing: 'it requires a tokens file: name one with --tokens FILE (or MODGATE_TOKENS)',
      isExplicit: true,
      open: openTokens,
    },
  ],
  [
    'issuers',
    {
      isConfigured: ({ issuers }) => issuers !== null,
      missing: 'it requires an issuers file: name one with --issuers FILE (or MODGATE_ISSUERS)',
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
 * Opens the authenticators of the configured chain in its order. The default chain has `dev` in
 * development, `tokens` with a tokens file, and those of an issuers file.
 * @throws ConfigError when the chain is empty, when dev tokens could be used from another machine,
 * when an authenticator is unusable, and for a missing or invalid file.
 */
export async function createAuthenticators(
  config: HostConfig,
  log: Log,
  plugins: AuthenticatorSource = NO_PLUGINS,
  options: OpenOptions = {},
): Promise<Authenticators> {
  const { attempt = attemptOrThrow } = options;
  const choices = (await attempt(() => chooseAuthenticators(config))) ?? [];
  await attempt(() => assertTokenHeaderUsed(config));
  const hasDevTokens = choices.some(({ name }) => name === 'dev');
  if (hasDevTokens) await attempt(() => assertCredentialsRequired(config));
  const roles = (await attempt(() => openRoles(config, log))) ?? Roles.none(log);
  const tokens = new AcceptedTokens();
  const links: Link[] = [];
  const close = async () => {
    for (const link of links.toReversed()) await link.close();
    await roles.close();
  };
  try {
    for (const choice of choices) {
      const link = await attempt(() =>
        openLink(choice, config, log, { roles, tokens }, plugins, options),
      );
      if (link === null) continue;
      links.push(link);
      tokens.issuers ??= link.exchange ?? null;
    }
    const chain = links.flatMap((link) => link.chain);
    if (config.tokenBasic) await attempt(() => assertBasicUsable(chain));
  } catch (error) {
    await close();
    throw error;
  }
  const issuers = links.flatMap((link) => link.issuers ?? []);
  const chain = links.flatMap((link) => link.chain);
  return { chain, issuers, hasDevTokens, roles, tokens, close };
}

function openRoles({ roles }: HostConfig, log: Log): Roles | Promise<Roles> {
  return roles === null ? Roles.none(log) : Roles.open(roles, log);
}

function chooseAuthenticators(config: HostConfig): readonly AuthenticatorChoice[] {
  const configured = [...BUILT_IN].filter(([, builtIn]) => builtIn.isConfigured(config));
  if (config.authenticators === null) {
    if (configured.length === 0 && config.tlsClients === null) throw createMissingError();
    return configured.map(([name]) => ({ name, config: {}, directory: '.' }));
  }
  for (const [name, { isExplicit }] of configured) {
    const isLeftOut = !config.authenticators.some((choice) => choice.name === name);
    if (!isLeftOut || !isExplicit) continue;
    throw new ConfigError(
      `'${name}' is configured, but --authenticators does not name it: add it to the list, or remove its configuration`,
    );
  }
  return config.authenticators;
}

async function openLink(
  choice: AuthenticatorChoice,
  config: HostConfig,
  log: Log,
  { roles, tokens }: Pick<Authenticators, 'roles' | 'tokens'>,
  plugins: AuthenticatorSource,
  options: OpenOptions,
): Promise<Link> {
  const { name } = choice;
  const builtIn = BUILT_IN.get(name);
  if (builtIn === undefined) {
    const { authenticator, scope } = await openPluginAuthenticator(choice, plugins, roles, log);
    return { chain: [authenticator], close: () => scope.close() };
  }
  if (!builtIn.isConfigured(config)) {
    throw new ConfigError(`authenticator '${name}' cannot be used: ${builtIn.missing}`);
  }
  const link = await builtIn.open(config, log, options);
  const check = (authenticator: Authenticator) =>
    createCheckedAuthenticator(authenticator, log, roles, null, tokens);
  return { ...link, chain: link.chain.map(check) };
}

function assertCredentialsRequired(config: HostConfig): void {
  if (config.allowDevAuthAnywhere || isLoopbackAddress(config.host)) return;
  throw new ConfigError(
    'with --env development the host listens on loopback only, since anyone can make a dev token: ' +
      'use --host 127.0.0.1, or --allow-dev-auth-anywhere if this is intended',
  );
}

/** With a public URL of another host, clients reach this host through a proxy. */
function devTokenScope({ allowDevAuthAnywhere, publicUrl }: HostConfig) {
  if (allowDevAuthAnywhere) return 'anywhere';
  return isLoopbackOrigin(publicUrl) ? 'loopback' : 'nowhere';
}

function assertTokenHeaderUsed({ tokens, tokenHeader }: HostConfig): void {
  if (tokenHeader === null || tokens !== null) return;
  throw new ConfigError(
    '--token-header requires a tokens file: name one with --tokens FILE (or MODGATE_TOKENS)',
  );
}

function createMissingError(): ConfigError {
  return new ConfigError(
    'no authenticator is configured, so every request would be rejected: name a tokens file with --tokens FILE ' +
      '(or MODGATE_TOKENS), the issuers of tokens with --issuers FILE, or client certificates ' +
      'with --tls-clients FILE, or use --env development on your own machine',
  );
}

async function openTokens(
  { tokens, tokenHeader }: HostConfig,
  log: Log,
): Promise<Link<Authenticator>> {
  try {
    const authenticator = await openTokensAuthenticator(tokens ?? '', { log, tokenHeader });
    return { chain: [authenticator], close: () => authenticator.close() };
  } catch (error) {
    throw assertValidFile(error);
  }
}

async function openIssuers(
  { issuers }: HostConfig,
  log: Log,
  options: OpenOptions,
): Promise<Link<Authenticator>> {
  // Loaded only if configured: jose and node-fetch slow down the start.
  const { openIssuersAuthenticators } = await import('./issuers.js');
  try {
    return await openIssuersAuthenticators(issuers ?? '', {
      ...options,
      log,
      environment: process.env,
    });
  } catch (error) {
    throw assertValidFile(error);
  }
}
