import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type Command, Option } from 'commander';
import { SETTINGS } from '../../config/settings.js';
import { ConfigError } from '../../errors.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { assertNameAvailable } from '../new/assert-name-available.js';
import { createModuleFiles, MODULE_KINDS, type ModuleKind } from '../new/module-files.js';
import { createPluginFiles, type PluginTemplate } from '../new/plugin-files.js';
import { type NewFile, writeNewFiles } from '../new/write-new-files.js';
import {
  addJsonOption,
  choiceArgument,
  choiceOption,
  isJsonRequested,
} from '../setting-options.js';

const SCHEMAS = join('node_modules', 'modgate', 'dist', 'core', 'schemas');

interface NewOptions {
  readonly dir?: string;
  readonly kind?: ModuleKind;
}

const KIND_HELP = 'Kind of module: local, code beside the descriptor; http, a separate service';
const DIR_HELP = `Target folder (default: ${SETTINGS.modules.default} for a module, . for the others)`;

interface Template {
  /** The default of --dir. */
  readonly folder: string;
  createFiles(name: string, folder: string, options: NewOptions): Promise<readonly NewFile[]>;
}

const TEMPLATES: Readonly<Record<string, Template>> = {
  module: {
    folder: SETTINGS.modules.default,
    createFiles: async (name, folder, { kind = 'local' }) => {
      const files = createModuleFiles(name, kind, findSchemas(folder));
      await assertNameAvailable(name, folder);
      return files;
    },
  },
  plugin: createPluginTemplate('plugin'),
  surface: createPluginTemplate('surface'),
  authenticator: createPluginTemplate('authenticator'),
  signer: createPluginTemplate('signer'),
};

function createPluginTemplate(template: PluginTemplate): Template {
  return {
    folder: '.',
    createFiles: async (name, _folder, { kind }) => {
      if (kind !== undefined) throw new ConfigError('--kind applies to modules only');
      return createPluginFiles(name, template);
    },
  };
}

export function define(command: Command): void {
  command
    .addArgument(
      choiceArgument(
        '<what>',
        'module, plugin, surface, authenticator or signer',
        Object.keys(TEMPLATES),
      ),
    )
    .argument('<name>', 'Such as acme/crm for a module, @acme/modgate-mqtt for a plugin')
    .addOption(new Option('--dir <dir>', DIR_HELP))
    .addOption(choiceOption('--kind <kind>', `${KIND_HELP} (default: local)`, MODULE_KINDS));
  addJsonOption(command, 'the names of the files');
}

/** Writes files that work without changes. Never overwrites a file. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [templateName = '', name = ''] = command.args;
  const options = command.opts<NewOptions>();
  // Commander has validated the argument against the table.
  const template = TEMPLATES[templateName];
  if (template === undefined) throw new Error('unknown template');
  const { dir = template.folder } = options;
  const created = await writeNewFiles(dir, await template.createFiles(name, dir, options));
  const lines = created.map((file) => `created ${file}\n`).join('');
  await context.print(isJsonRequested(command) ? `${JSON.stringify({ created })}\n` : lines);
  return EXIT.ok;
}

/**
 * Finds the schemas of the package that is installed in the folder or above it, as a relative path. An editor
 * then validates with the same version as the host. `null` without an installed package.
 */
function findSchemas(folder: string): string | null {
  const start = resolve(folder);
  for (let current = start; ; current = dirname(current)) {
    if (existsSync(join(current, SCHEMAS))) {
      return relative(start, join(current, SCHEMAS)).replaceAll(sep, '/');
    }
    if (dirname(current) === current) return null;
  }
}
