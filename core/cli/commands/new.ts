import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Command } from 'commander';
import { SETTINGS } from '../../config/settings.js';
import type { CommandContext, CommandGroup, ExitCode } from '../command-module.js';
import { assertNameAvailable } from '../new/assert-name-available.js';
import type { PluginTemplate } from '../new/assert-plugin-name.js';
import { createModuleFiles, MODULE_KINDS, type ModuleKind } from '../new/module-files.js';
import { createPluginFiles } from '../new/plugin-files.js';
import { type NewFile, writeNewFiles } from '../new/write-new-files.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption, choiceOption } from '../setting-options.js';

/** Where the package has them, unlike a checkout. */
const SCHEMAS = join('node_modules', 'modgate', 'lib', 'core', 'schemas');

const KIND_HELP = 'Kind of module: local, code beside the descriptor; http, a separate service';

export const actions: CommandGroup['actions'] = {
  module: {
    summary: 'Create a descriptor, a manifest and a local module',
    define: (command) => {
      command
        .argument('<name>', 'Such as crm or acme/crm')
        .addOption(choiceOption('--kind <kind>', KIND_HELP, MODULE_KINDS).default('local'));
      addCommonOptions(command, SETTINGS.modules.default);
    },
    run: (command, context) =>
      write(command, context, async (name, folder) => {
        const { kind } = command.opts<{ kind: ModuleKind }>();
        const files = createModuleFiles(name, kind, findSchemas(folder));
        await assertNameAvailable(name, folder);
        return files;
      }),
  },
  plugin: createPluginAction('plugin', 'a plugin that serves a kind of provider'),
  surface: createPluginAction('surface', 'a plugin with a surface'),
  authenticator: createPluginAction('authenticator', 'a plugin with an authenticator'),
  signer: createPluginAction('signer', 'a plugin with a signer'),
  importer: createPluginAction('importer', 'a plugin with an importer'),
};

function createPluginAction(template: PluginTemplate, result: string) {
  return {
    summary: `Create ${result}`,
    define: (command: Command) => {
      command.argument('<name>', 'Package name, such as @acme/modgate-mqtt');
      addCommonOptions(command, '.');
    },
    run: (command: Command, context: CommandContext) =>
      write(command, context, (name) => createPluginFiles(name, template)),
  };
}

function addCommonOptions(command: Command, folder: string): void {
  command.option('--dir <dir>', 'Target folder', folder);
  addJsonOption(command, 'the names of the files');
}

/** Writes files that work without changes. Never overwrites a file. */
async function write(
  command: Command,
  context: CommandContext,
  createFiles: (name: string, folder: string) => Promise<readonly NewFile[]>,
): Promise<ExitCode> {
  const [name = ''] = command.args;
  const { dir } = command.opts<{ dir: string }>();
  const created = await writeNewFiles(dir, await createFiles(name, dir));
  const format = () => created.map((file) => `created ${file}\n`).join('');
  return printResult(command, context, { created }, format);
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
