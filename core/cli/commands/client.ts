import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addDocumentOptions, readDocument } from '../openapi/read-document.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { readClientModel } from '../typescript/client-model.js';
import { generateClient, withoutHeader } from '../typescript/generate-client.js';

interface ClientOptions {
  readonly out: string;
  readonly check?: true;
}

const HELP = `
Writes one self-contained TypeScript file: a function for each route, with
types from the schemas of the modules. The file needs fetch and nothing else.`;

export function define(command: Command): void {
  command
    .argument('[module...]', 'Modules to call (default: all)')
    .requiredOption('--out <file>', 'TypeScript file to write')
    .option('--check', 'Exit with 1 if the file would differ below its header; write nothing')
    .addHelpText('after', HELP);
  addDocumentOptions(command);
  addJsonOption(command, 'the result');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { out, check } = command.opts<ClientOptions>();
  if (!/\.[cm]?ts$/.test(out)) throw new ConfigError('--out must be a TypeScript file: FILE.ts');
  const document: unknown = JSON.parse(await readDocument(command, context));
  const model = readClientModel(document);
  const text = generateClient(model);
  const modules = model.modules.length;
  const functions = model.modules.flatMap((module) => module.functions).length;
  const print = (words: string, more: object = {}) => {
    const json = JSON.stringify({ file: out, modules, functions, ...more });
    return context.print(`${isJsonRequested(command) ? json : words}\n`);
  };
  if (check === true) {
    const { isSame, words } = await compare(out, text);
    await print(`${out} ${words}`, { up_to_date: isSame });
    return isSame ? EXIT.ok : EXIT.failure;
  }
  await write(out, text);
  await print(`wrote ${out}: ${modules} modules, ${functions} functions`);
  return EXIT.ok;
}

async function compare(file: string, text: string): Promise<{ isSame: boolean; words: string }> {
  const current = await readFile(file, 'utf8').catch(() => null);
  if (current === null) return { isSame: false, words: 'cannot be read' };
  const isSame = withoutHeader(current) === withoutHeader(text);
  return { isSame, words: isSame ? 'is up to date' : 'differs: run modgate client again' };
}

async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    throw new CommandError(`${file} cannot be written`, { cause: error });
  }
}
