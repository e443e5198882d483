import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addDocumentOptions, readDocument } from '../openapi/read-document.js';
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
}

/** Writes a typed client of modules. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { out, check } = command.opts<ClientOptions>();
  if (!/\.[cm]?ts$/.test(out)) throw new ConfigError('--out must be a TypeScript file: FILE.ts');
  const document: unknown = JSON.parse(await readDocument(command, context));
  const model = readClientModel(document);
  const text = generateClient(model);
  if (check === true) return compare(out, text, context);
  await write(out, text);
  const functions = model.modules.flatMap((module) => module.functions).length;
  await context.print(`wrote ${out}: ${model.modules.length} modules, ${functions} functions\n`);
  return EXIT.ok;
}

async function compare(file: string, text: string, { print }: CommandContext): Promise<ExitCode> {
  const current = await readFile(file, 'utf8').catch(() => null);
  const isSame = current !== null && withoutHeader(current) === withoutHeader(text);
  const reason = current === null ? 'cannot be read' : 'differs: run modgate client again';
  await print(isSame ? `${file} is up to date\n` : `${file} ${reason}\n`);
  return isSame ? EXIT.ok : EXIT.failure;
}

async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    throw new CommandError(`${file} cannot be written`, { cause: error });
  }
}
