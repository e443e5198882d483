import type { AnyStruct } from '../contract/described.js';
import { InvalidFile } from '../document/diagnostic.js';
import { resolveReferences } from '../document/references.js';
import { validateStruct } from '../document/validate.js';
import { ConfigError } from '../errors.js';

/** What the configuration file has for something that a plugin ships. */
interface PluginConfigInput {
  /** The owner for messages: `surface 'console'`. */
  readonly owner: string;
  readonly config: unknown;
  readonly struct: AnyStruct;
  /** Where `config` is in the file. */
  readonly prefix: readonly string[];
  /** Relative paths start here. */
  readonly directory: string;
}

/** @throws ConfigError that names the owner. */
export async function readPluginConfig({
  owner,
  config,
  struct,
  prefix,
  directory,
}: PluginConfigInput) {
  const { value, violations } = validateStruct(config, struct, prefix);
  const [violation] = violations;
  if (violation !== undefined) {
    const hint = violation.hint === null ? '' : ` (${violation.hint})`;
    throw new ConfigError(`${owner}: ${violation.message}${hint}`);
  }
  try {
    const references = await resolveReferences({
      struct,
      config: value,
      baseDir: directory,
      env: process.env,
      source: { file: owner, locate: () => null, prefix },
    });
    return { config: value, references };
  } catch (error) {
    if (error instanceof InvalidFile) throw new ConfigError(error.message, { cause: error });
    throw error;
  }
}
