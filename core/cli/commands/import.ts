import { Argument, Command, Option } from 'commander';
import { SETTINGS } from '../../config/settings.js';
import type { Log } from '../../contract/index.js';
import { MODULE_NAME, MODULE_NAME_RULE } from '../../descriptor/identifiers.js';
import { suggestName } from '../../document/suggest.js';
import { ConfigError } from '../../errors.js';
import { openPlugins, PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import { PluginError } from '../../plugin-loader/plugin-error.js';
import type { DeclaredImporter, DeclaredOption } from '../../plugin-loader/plugin-manifest.js';
import type { PluginRegistry } from '../../plugin-loader/plugin-registry.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { applyConversion } from '../import/apply-conversion.js';
import type { Conversion } from '../import/conversion.js';
import { formatImport } from '../import/format-import.js';
import { ImportFiles } from '../import/import-files.js';
import { importOpenApi, parseEndpoint } from '../import/import-openapi.js';
import { importWithPlugin } from '../import/import-with-plugin.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption, addSettings, readSettings } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

interface ImportOptions {
  readonly module: string;
  readonly endpoint?: string;
  readonly out: string;
  readonly write?: true;
  readonly check?: true;
}

const OPENAPI = 'openapi';

const HELP = `
Writes a descriptor and a manifest, and lists what a manifest cannot express.
Run again, it prints the difference to the files and changes them only with
--write: the manifest, and where the descriptor leads. With --check it writes
nothing and exits with 1 when clients would notice the difference.

Besides openapi, <what> may be the name of an importer of a plugin: --help
lists them, and after such a name its options. A command as the source follows
--, after all options.`;

export function define(command: Command): void {
  command
    .addArgument(
      new Argument('<what>', 'openapi, or an importer of a plugin').choices([OPENAPI]).argParser(
        // Importers are known once the plugins are read.
        (name) => name,
      ),
    )
    .argument(
      '[source...]',
      'For openapi: file or URL of a document of OpenAPI 3.0 to 3.2, or Swagger 2.0, JSON or YAML; - for stdin',
    )
    .requiredOption('--module <name>', 'Name of the module, such as crm or acme/crm')
    .option('--endpoint <url>', 'URL of the service, with the base path of the document')
    .option('--out <dir>', 'Target folder', SETTINGS.modules.default)
    .option('--write', 'Write the difference into the files of an earlier import')
    .option('--check', 'Exit with 1 if clients would notice the difference; write nothing')
    .addHelpText('after', HELP);
  addJsonOption(command, 'the files, the difference and what is not mapped');
  addSettings(command, PLUGIN_SETTINGS);
  addUselessOptions(command, { 'with --write': ['check'] });
}

/** Adds the options of the importer, which its plugin declares. */
export async function prepare(
  command: Command,
  args: readonly string[],
  context: CommandContext,
): Promise<void> {
  const name = findName(command, args);
  const isHelp = args.some((word) => word === '--help' || word === '-h');
  if (name === OPENAPI || (name === undefined && !isHelp)) return;
  const importers = (await readPluginsOf(args, context)).importers();
  if (name === undefined) {
    const [what] = command.registeredArguments;
    // For the completion: `choices` would also validate, before the plugins are read.
    if (what !== undefined) what.argChoices = [OPENAPI, ...importers.map(({ name }) => name)];
    const lines = importers.map(({ name, source }) => `  ${name}: ${source}\n`);
    if (lines.length > 0)
      command.addHelpText('after', `\nImporters of plugins:\n${lines.join('')}`);
    return;
  }
  const importer = importers.find((one) => one.name === name);
  if (importer === undefined) return;
  command.description(`Import of ${name}: ${importer.source}`);
  for (const option of importer.options) addImporterOption(command, importer, option);
}

/** The settings of plugins are needed before the options of the command are known. */
async function readPluginsOf(
  args: readonly string[],
  context: CommandContext,
): Promise<PluginRegistry> {
  const probe = new Command().allowUnknownOption().allowExcessArguments().helpOption(false);
  probe.exitOverride().configureOutput({ outputError: () => {} });
  addSettings(probe, PLUGIN_SETTINGS);
  const end = args.indexOf('--');
  probe.parse(end === -1 ? args : args.slice(0, end), { from: 'user' });
  return readPlugins(probe, context);
}

async function readPlugins(command: Command, context: CommandContext): Promise<PluginRegistry> {
  const { config, sources } = await readSettings(PLUGIN_SETTINGS, command, context);
  return openPlugins(config, sources.plugins);
}

/** The first word that is no option and no value of one. */
function findName({ options }: Command, args: readonly string[]): string | undefined {
  const valued = new Set(options.filter(({ required }) => required).map(({ long }) => long));
  return args.find((word, index) => !word.startsWith('-') && !valued.has(args[index - 1] ?? ''));
}

function addImporterOption(
  command: Command,
  importer: DeclaredImporter,
  { name, value, choices, repeats = false, help }: DeclaredOption,
): void {
  const flags = `--${name}${value === undefined && choices === undefined ? '' : ` <${value ?? 'word'}>`}`;
  if (command.options.some(({ long }) => long === `--${name}`)) {
    const problem = `has an option --${name} of its importer, which every import has`;
    throw new PluginError(importer.name, 'manifest', problem, 'choose another name');
  }
  const option = new Option(flags, help);
  if (choices !== undefined) option.choices(choices);
  if (repeats) option.argParser((word, list: readonly string[] = []) => [...list, word]);
  command.addOption(option);
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const options = command.opts<ImportOptions>();
  const { module, out, check = false } = options;
  if (!MODULE_NAME.test(module)) {
    throw new ConfigError(`--module must be such as crm or acme/crm: ${MODULE_NAME_RULE}`);
  }
  const files = new ImportFiles(out, module);
  const convert = chooseImport(command, context, files);
  const earlier = await files.readEarlier();
  const report = await applyConversion(files, earlier, await convert(), options);
  await printResult(command, context, report, formatImport, 2);
  const { changes } = report;
  const isNoticed = changes === null || changes.some(({ affectsClients }) => affectsClients);
  return check && isNoticed ? EXIT.failure : EXIT.ok;
}

function chooseImport(
  command: Command,
  context: CommandContext,
  files: ImportFiles,
): () => Promise<Conversion> {
  const { module, endpoint } = command.opts<ImportOptions>();
  const [name = '', ...source] = command.args;
  const [document, extra] = source;
  if (document === undefined) throw new ConfigError("missing required argument 'source'");
  if (name !== OPENAPI) {
    return async () => {
      const plugins = await readPlugins(command, context);
      const importer = plugins.importers().find((one) => one.name === name);
      if (importer === undefined) throw createUnknownError(name, plugins.importers());
      const environment = { plugins, files, env: context.environment, log: createLog(context) };
      const request = { name, source, options: readOwnOptions(command, importer), module };
      return importWithPlugin({ ...request, endpoint: endpoint ?? null }, environment);
    };
  }
  if (extra !== undefined) throw new ConfigError('openapi has one source');
  const url = parseEndpoint(endpoint);
  return () => importOpenApi(document, files, { module, endpoint: url });
}

function createUnknownError(name: string, importers: readonly DeclaredImporter[]): ConfigError {
  const hint = suggestName(name, [OPENAPI, ...importers.map((one) => one.name)]);
  return new ConfigError(`<what> must be openapi, or an importer of a plugin (${hint})`);
}

function readOwnOptions(
  command: Command,
  { options }: DeclaredImporter,
): Readonly<Record<string, unknown>> {
  const given = options.flatMap(({ name }) => {
    const attribute = new Option(`--${name}`).attributeName();
    const value: unknown = command.getOptionValue(attribute);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

function createLog({ printError }: CommandContext): Log {
  const print = (_fields: object, message: string) => printError(`${message}\n`);
  return { debug() {}, info() {}, warn: print, error: print };
}
