import type { AuthenticatorChoice } from '../config/authenticator-list.js';
import type { Authenticator, AuthenticatorFactory, Log } from '../contract/index.js';
import { InvalidFile } from '../document/diagnostic.js';
import { resolveReferences } from '../document/references.js';
import { validateStruct } from '../document/validate.js';
import { ConfigError } from '../errors.js';
import { runAs } from '../isolation/error-owner.js';
import { ModuleScope } from '../isolation/scope.js';
import { withTimeout } from '../lib/promises.js';
import { createAuthenticatorOwner, createCheckedAuthenticator } from './checked-authenticator.js';

/** The host does not start without it. Milliseconds. */
const OPEN_TIMEOUT_MS = 5000;

export interface PluginAuthenticator {
  readonly authenticator: Authenticator;
  readonly scope: ModuleScope;
}

/** Looks up authenticators of plugins. */
export interface AuthenticatorSource {
  authenticator(name: string): Promise<AuthenticatorFactory>;
}

/**
 * Loads and opens an authenticator of a plugin.
 * @throws ConfigError that names it, whatever fails: the host must not start without it.
 */
export async function openPluginAuthenticator(
  choice: AuthenticatorChoice,
  source: AuthenticatorSource,
  log: Log,
): Promise<PluginAuthenticator> {
  const { name } = choice;
  const owner = createAuthenticatorOwner(log, name);
  const scope = new ModuleScope(log, owner);
  try {
    const factory = await source.authenticator(name);
    const { config, references } = await readOwnConfig(choice, factory);
    const { secret, file, path } = references;
    const opening = runAs(owner, () => factory.open(config, { scope, log, secret, file, path }));
    const createLateError = () => new Error(`it did not open within ${OPEN_TIMEOUT_MS} ms`);
    const opened: unknown = await withTimeout(opening, OPEN_TIMEOUT_MS, createLateError);
    const authenticator = { name, authenticate: bindAuthenticate(opened) };
    return { authenticator: createCheckedAuthenticator(authenticator, log, owner), scope };
  } catch (error) {
    await scope.close();
    if (error instanceof ConfigError) throw error;
    const reason = error instanceof Error ? error.message : 'it threw a value that is not an Error';
    throw new ConfigError(`authenticator '${name}' cannot be used: ${reason}`, { cause: error });
  }
}

async function readOwnConfig(
  { name, config, directory }: AuthenticatorChoice,
  factory: AuthenticatorFactory,
) {
  const prefix = ['config'];
  const { value, violations } = validateStruct(config, factory.config, prefix);
  const [violation] = violations;
  if (violation !== undefined) {
    const hint = violation.hint === null ? '' : ` (${violation.hint})`;
    throw new ConfigError(`authenticator '${name}': ${violation.message}${hint}`);
  }
  try {
    const references = await resolveReferences({
      struct: factory.config,
      config: value,
      baseDir: directory,
      env: process.env,
      source: { file: `authenticator '${name}'`, locate: () => null, prefix },
    });
    return { config: value, references };
  } catch (error) {
    if (error instanceof InvalidFile) throw new ConfigError(error.message, { cause: error });
    throw error;
  }
}

function bindAuthenticate(opened: unknown): Authenticator['authenticate'] {
  const { authenticate } = (opened ?? {}) as Partial<Authenticator>;
  if (typeof authenticate !== 'function') {
    throw new Error("'open' must return an object with a function 'authenticate'");
  }
  return authenticate.bind(opened) as Authenticator['authenticate'];
}
