import type { AuthenticatorChoice } from '../config/authenticator-list.js';
import { readPluginConfig } from '../config/read-plugin-config.js';
import type { Authenticator, AuthenticatorFactory, Log } from '../contract/index.js';
import { ConfigError } from '../errors.js';
import { runAs } from '../isolation/error-owner.js';
import { ModuleScope } from '../isolation/scope.js';
import { withTimeout } from '../lib/promises.js';
import { UNCHANGED } from '../lib/secrets/mask-secrets.js';
import { createLogMask, maskThrown } from '../lib/secrets/mask-thrown.js';
import { withFields, withMask } from '../log/logger.js';
import {
  type CheckedAuthenticator,
  createAuthenticatorOwner,
  createCheckedAuthenticator,
} from './checked-authenticator.js';
import type { Roles } from './roles.js';

/** The host does not start if opening takes longer. Milliseconds. */
const OPEN_TIMEOUT_MS = 5000;

interface PluginAuthenticator {
  readonly authenticator: CheckedAuthenticator;
  readonly scope: ModuleScope;
}

export interface AuthenticatorSource {
  authenticator(name: string): Promise<AuthenticatorFactory>;
}

/**
 * Loads and opens an authenticator of a plugin.
 * @throws ConfigError that names the authenticator for every failure: the host must not start
 * without it.
 */
export async function openPluginAuthenticator(
  choice: AuthenticatorChoice,
  source: AuthenticatorSource,
  roles: Roles,
  log: Log,
): Promise<PluginAuthenticator> {
  const { name } = choice;
  let scope: ModuleScope | null = null;
  let mask = UNCHANGED;
  try {
    const factory = await source.authenticator(name);
    const { config, references } = await readPluginConfig({
      ...choice,
      owner: `authenticator '${name}'`,
      struct: factory.config,
      prefix: ['config'],
    });
    const { secret, file, path, secrets } = references;
    mask = createLogMask(secrets);
    const ownLog = withMask(withFields(log, { authenticator: name }), mask);
    const owner = createAuthenticatorOwner(ownLog);
    scope = new ModuleScope(ownLog, owner);
    const context = { scope, log: ownLog, secret, file, path };
    const opening = runAs(owner, () => factory.open(config, context));
    const createLateError = () => new Error(`it did not open within ${OPEN_TIMEOUT_MS} ms`);
    const opened: unknown = await withTimeout(opening, OPEN_TIMEOUT_MS, createLateError);
    const authenticator = bindAuthenticator(name, opened);
    const checked = createCheckedAuthenticator(authenticator, ownLog, roles, owner);
    return { authenticator: checked, scope };
  } catch (error) {
    await scope?.close();
    if (error instanceof ConfigError) throw error;
    const cause = maskThrown(error, mask);
    throw new ConfigError(`authenticator '${name}' cannot be used: ${cause.message}`, { cause });
  }
}

/** Reads each member only once, because the plugin's object may change. */
function bindAuthenticator(name: string, opened: unknown): Authenticator {
  const { authenticate, reads, challenges } = (opened ?? {}) as Partial<Authenticator>;
  if (typeof authenticate !== 'function') {
    throw new Error("'open' must return an object with a function 'authenticate'");
  }
  return {
    name,
    ...(reads !== undefined && { reads }),
    ...(challenges !== undefined && { challenges }),
    authenticate: authenticate.bind(opened) as Authenticator['authenticate'],
  };
}
