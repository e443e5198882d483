import type { Command } from 'commander';
import { readStructuredText } from '../../document/parse-document.js';
import { readFileText } from '../../document/read-file.js';
import { manifestDigest, parseManifest } from '../../manifest/parse-manifest.js';
import { openPlugins, PLUGIN_SETTINGS } from '../../plugin-loader/open-plugins.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { printResult } from '../output/print-result.js';
import { addSettings, readSettings } from '../setting-options.js';

export function define(command: Command): void {
  command.argument('<file>', 'Manifest file, JSON or YAML').option('--json', 'Print a JSON object');
  addSettings(command, PLUGIN_SETTINGS);
}

/** Prints the digest that `manifest_digest` and `console.release` of a descriptor must match. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [file = ''] = command.args;
  const { value, locate } = readStructuredText(file, await readFileText(file));
  const { config, sources } = await readSettings(PLUGIN_SETTINGS, command, context);
  const kinds = (await openPlugins(config, sources.plugins)).kinds();
  const digest = manifestDigest(parseManifest(value, { file, locate }, { kinds }).written);
  return printResult(command, context, { file, digest }, () => `${digest}\n`);
}
