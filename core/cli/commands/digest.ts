import type { Command } from 'commander';
import { readStructuredText } from '../../document/parse-document.js';
import { assertValidFile } from '../../document/parse-file.js';
import { readFileText } from '../../document/read-file.js';
import { manifestDigest, parseManifest } from '../../manifest/parse-manifest.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';

export function define(command: Command): void {
  command.argument('<file>', 'Manifest file, JSON or YAML').option('--json', 'Print a JSON object');
}

/** Prints the digest that `manifest_digest` and `console.release` of a descriptor must match. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const [file = ''] = command.args;
  const digest = await readDigest(file);
  const { json } = command.opts<{ json?: true }>();
  await context.print(`${json ? JSON.stringify({ file, digest }) : digest}\n`);
  return EXIT.ok;
}

async function readDigest(file: string): Promise<string> {
  try {
    const { value, locate } = readStructuredText(file, await readFileText(file));
    return manifestDigest(parseManifest(value, { file, locate }).manifest);
  } catch (error) {
    throw assertValidFile(error);
  }
}
