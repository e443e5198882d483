import { type Command, Option } from 'commander';
import { ConfigError } from '../../config/config-error.js';
import { SETTINGS } from '../../config/settings.js';
import { choiceArgument, choiceOption } from '../choice.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addJsonOption, wantsJson } from '../json-option.js';
import { createModuleFiles, MODULE_KINDS, type ModuleKind } from '../new/module-files.js';
import { refuseTakenName } from '../new/refuse-taken-name.js';
import { type NewFile, writeNewFiles } from '../new/write-new-files.js';

interface NewOptions {
  readonly dir: string;
  readonly kind: ModuleKind;
}

const FOLDER = SETTINGS.modules.default;

const KIND_HELP = 'local: code beside the descriptor; http: a service elsewhere';

type CreateFiles = (name: string, options: NewOptions) => Promise<readonly NewFile[]>;

/** What can be made anew, by the word after `new`. */
const TEMPLATES = {
  module: async (name, { dir, kind }) => {
    const files = createModuleFiles(name, kind);
    await refuseTakenName(name, dir);
    return files;
  },
} satisfies Record<string, CreateFiles>;

type Template = keyof typeof TEMPLATES;

export function define(command: Command): void {
  command
    .addArgument(choiceArgument('<what>', 'what to make', Object.keys(TEMPLATES)))
    .argument('<name>', 'its name, such as crm or acme/crm')
    .addOption(new Option('--dir <dir>', SETTINGS.modules.help).default(FOLDER, FOLDER))
    .addOption(choiceOption('--kind <kind>', KIND_HELP, MODULE_KINDS).default('local', 'local'));
  addJsonOption(command, 'the names of the files');
}

/** Writes files that serve at once; never over one that is there. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [what = '', name = ''] = command.args;
  const options = command.opts<NewOptions>();
  if (options.dir === '') throw new ConfigError('--dir must be the path of a folder');
  const files = await TEMPLATES[what as Template](name, options);
  const created = await writeNewFiles(options.dir, files);
  const lines = created.map((file) => `created ${file}\n`).join('');
  await context.print(wantsJson(command) ? `${JSON.stringify({ created })}\n` : lines);
  return EXIT.ok;
}
