import { resolve } from 'node:path';
import { PART_NAME } from './plugin-list.js';
import type { SettingKind } from './setting-kind.js';

/** One entry of the chain of authenticators. */
export interface AuthenticatorChoice {
  readonly name: string;
  /** The plugin of the authenticator validates it; `{}` by default. */
  readonly config: unknown;
  /** Relative paths in the config start here. */
  readonly directory: string;
}

const MEMBERS: ReadonlySet<string> = new Set(['name', 'config']);

/** The built-in authenticators; plugins provide all others. */
export const BUILT_IN_AUTHENTICATORS: ReadonlySet<string> = new Set(['dev', 'tokens', 'issuers']);

export function listPluginAuthenticators(chain: readonly AuthenticatorChoice[]): string[] {
  return chain.map(({ name }) => name).filter((name) => !BUILT_IN_AUTHENTICATORS.has(name));
}

/** Names in the order of the chain; in a configuration file each may have a config. */
export const authenticatorList: SettingKind<readonly AuthenticatorChoice[]> = {
  placeholder: 'names',
  expected:
    'distinct names of authenticators, such as tokens,acme-ldap, or in a file a list of {name, config}',
  fileType: 'string',
  parse: (text, directory) => parseList(text.split(','), directory),
  parseValue: (value, directory) =>
    Array.isArray(value) ? parseList(value, directory) : undefined,
};

function parseList(
  entries: readonly unknown[],
  directory: string,
): readonly AuthenticatorChoice[] | undefined {
  const choices = entries.map((entry) => parseEntry(entry, resolve(directory)));
  if (!choices.every((choice) => choice !== null)) return undefined;
  const names = new Set(choices.map(({ name }) => name));
  return names.size === choices.length && names.size > 0 ? choices : undefined;
}

function parseEntry(entry: unknown, directory: string): AuthenticatorChoice | null {
  const { name, config = {} } = (typeof entry === 'object' ? (entry ?? {}) : { name: entry }) as {
    readonly name?: unknown;
    readonly config?: unknown;
  };
  if (typeof name !== 'string' || !PART_NAME.test(name)) return null;
  const isPlain =
    typeof entry !== 'object' || Object.keys(entry ?? {}).every((key) => MEMBERS.has(key));
  return isPlain ? { name, config, directory } : null;
}
