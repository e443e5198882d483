import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { importPlugin } from '../../plugin-loader/import-plugin.js';
import { PLUGIN_FILE, readPluginManifest } from '../../plugin-loader/plugin-manifest.js';
import { ADAPTER_CLAUSES } from '../../testkit/adapter-clauses.js';
import { AUTHENTICATION } from '../../testkit/clauses/authentication.js';
import { IMPORTING } from '../../testkit/clauses/importing.js';
import { SIGNING } from '../../testkit/clauses/signing.js';
import { SURFACE_CLAUSES } from '../../testkit/clauses/surfaces.js';
import { isClause } from '../../testkit/run-clauses.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { isFile, readSubjects } from '../test-plugin/read-subjects.js';
import {
  formatClause,
  formatScorecardJson,
  formatSummary,
  type SubjectScore,
  summarizeScores,
} from '../test-plugin/scorecard.js';
import { testSubjects } from '../test-plugin/test-subjects.js';

interface TestPluginOptions {
  readonly only?: string;
}

const HELP = `
Loads the plugin like a host and runs the conformance suite on its exports. The
file testkit.js beside its entry exports 'subjects', which start a provider for
each of them. Exits with 0 if no clause failed, 1 if one failed or the plugin
is invalid, 2 for usage errors.`;

export function define(command: Command): void {
  command
    .argument('<plugin>', 'Folder with a plugin.json, or an installed package')
    .option(
      '--only <clauses>',
      'Run these clauses only: ids or areas (answer.*), separated by commas',
    )
    .addHelpText('after', HELP);
  addJsonOption(command, 'the scorecard');
}

/** Prints the result of each clause as it completes. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [argument = ''] = command.args;
  const only = readOnly(command.opts<TestPluginOptions>().only);
  const folder = await findPluginFolder(argument);
  const plugin = await readPluginManifest(folder, 'folder');
  if ('error' in plugin) throw plugin.error;
  const exports = await importPlugin(plugin);
  const subjects = await readSubjects(plugin.entryPath);
  const isJson = isJsonRequested(command);
  // Not awaited: stdout preserves the order, and the last write reports a failure of stdout.
  const write = (text: string) => void (isJson ? null : context.print(text).catch(() => {}));
  const { name, version } = plugin;
  write(`plugin '${name}' ${version}\n`);
  const scores = await testSubjects(exports, subjects, {
    only,
    onSubject: (subject) => write(`\n${subject}\n`),
    onResult: (result) => write(formatClause(result)),
  });
  await context.print(
    isJson
      ? formatScorecardJson({ plugin: { name, version, folder }, subjects: scores })
      : formatReasons(scores) + formatSummary(scores),
  );
  return summarizeScores(scores).failed === 0 ? EXIT.ok : EXIT.failure;
}

function formatReasons(scores: readonly SubjectScore[]): string {
  const lines = scores.filter(({ reason }) => reason !== null);
  return lines.map(({ subject, reason }) => `\nFAIL  ${subject}: ${reason}\n`).join('');
}

function readOnly(list: string | undefined): readonly string[] | undefined {
  if (list === undefined) return undefined;
  const patterns = list.split(',');
  const clauses = [
    ...ADAPTER_CLAUSES,
    ...AUTHENTICATION,
    ...IMPORTING,
    ...SIGNING,
    ...SURFACE_CLAUSES,
  ];
  const isKnown = (pattern: string) => clauses.some((clause) => isClause(pattern, clause));
  if (patterns.every(isKnown)) return patterns;
  throw new ConfigError(
    '--only must be ids of clauses, or areas, separated by commas: answer.body or answer.*',
  );
}

/**
 * Finds the folder of a plugin: a path, or a package that resolves from the working directory.
 * @throws ConfigError for a folder or package without a plugin.json.
 */
async function findPluginFolder(plugin: string): Promise<string> {
  const folder = resolve(plugin);
  if (await isFile(join(folder, PLUGIN_FILE))) return folder;
  const installed = findPackage(plugin);
  if (installed !== null && (await isFile(join(installed, PLUGIN_FILE)))) return installed;
  throw new ConfigError(
    `${plugin} is neither a folder nor an installed package with a ${PLUGIN_FILE}`,
  );
}

/** Resolves like Node.js, but ignores `exports`: a plugin need not export its plugin.json. */
function findPackage(name: string): string | null {
  if (!/^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name)) return null;
  const require = createRequire(pathToFileURL(join(process.cwd(), PLUGIN_FILE)));
  for (const modules of require.resolve.paths(name) ?? []) {
    try {
      return dirname(require.resolve(join(modules, name, PLUGIN_FILE)));
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
