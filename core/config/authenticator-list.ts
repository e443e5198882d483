import { resolve } from 'node:path';
import type { SettingKind } from './setting-kind.js';

/** One link of the chain of authenticators. */
export interface AuthenticatorChoice {
  readonly name: string;
  /** For one of a plugin, which judges it; `{}` where nothing is given. */
  readonly config: unknown;
  /** Where relative paths in it start. */
  readonly directory: string;
}

const NAME = /^[a-z][a-z0-9-]{0,63}$/;
const MEMBERS: ReadonlySet<string> = new Set(['name', 'config']);

/** Names in the order in which they are asked; in a configuration file each also with its config. */
export const authenticatorList: SettingKind<readonly AuthenticatorChoice[]> = {
  placeholder: 'names',
  expected:
    'names of authenticators that differ, such as tokens,acme-ldap, or in a file a list of {name, config}',
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
  if (typeof name !== 'string' || !NAME.test(name)) return null;
  const isPlain =
    typeof entry !== 'object' || Object.keys(entry ?? {}).every((key) => MEMBERS.has(key));
  return isPlain ? { name, config, directory } : null;
}
