import type { AnyStruct } from '../contract/described.js';
import type { SurfaceFactory } from '../contract/index.js';
import { InvalidFile } from '../document/diagnostic.js';
import { readKnownFiles, reportFiles } from '../document/known-files.js';
import { resolveReferences } from '../document/references.js';
import { validateStruct } from '../document/validate.js';
import { ConfigError } from '../errors.js';
import type { SurfaceChoice } from './surface-list.js';

interface PluginConfigInput {
  /** The owner for messages: `surface 'console'`. */
  readonly owner: string;
  readonly config: unknown;
  readonly struct: AnyStruct;
  /** The path of `config` in the file. */
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
    const references = await readKnownFiles(() =>
      resolveReferences({
        struct,
        config: value,
        baseDir: directory,
        env: process.env,
        source: { file: owner, locate: () => null, prefix },
      }),
    );
    reportFiles(references.contents);
    return { config: value, references };
  } catch (error) {
    if (error instanceof InvalidFile) throw new ConfigError(error.message, { cause: error });
    throw error;
  }
}

/** @throws ConfigError for a config that its struct rejects. */
export function readSurfaceConfig(choice: SurfaceChoice, { config: struct }: SurfaceFactory) {
  const owner = `surface '${choice.name}'`;
  return readPluginConfig({ ...choice, owner, struct, prefix: ['surfaces', choice.name] });
}
