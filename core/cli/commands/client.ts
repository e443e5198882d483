import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { createFolder } from '../../lib/create-folder.js';
import { formatCount } from '../../modules/against/format-changes.js';
import { createClientDocument } from '../client-types/client-document.js';
import { withoutHeader, writeHeader, writeTypes } from '../client-types/write-types.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { asObject } from '../json-value.js';
import { addDocumentOptions, readDocument } from '../openapi/read-document.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';

interface ClientOptions {
  readonly out: string;
  readonly check?: true;
}

const HELP = `
Writes the types of the routes with the openapi-typescript of your project,
for createClient of modgate/client, which needs openapi-fetch:
npm install openapi-fetch && npm install --save-dev openapi-typescript`;

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
  const source = asObject(JSON.parse(await readDocument(command, context, 'client')));
  const document = createClientDocument(source);
  const digest = String(asObject(source['info'])['version']);
  const text = writeHeader(document, digest) + (await writeTypes(document, out));
  const { routes } = document;
  const modules = document.modules.length;
  const print = (words: string, more: object = {}) => {
    const json = JSON.stringify({ file: out, modules, routes, ...more });
    return context.print(`${isJsonRequested(command) ? json : words}\n`);
  };
  if (check === true) {
    const { isSame, words } = await compare(out, text);
    await print(`${out} ${words}`, { up_to_date: isSame });
    return isSame ? EXIT.ok : EXIT.failure;
  }
  await write(out, text);
  await print(`wrote ${out}: ${formatCount(modules, 'module')}, ${formatCount(routes, 'route')}`);
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
    await createFolder(dirname(file));
    await writeFile(file, text);
  } catch (error) {
    throw new CommandError(`${file} cannot be written`, { cause: error });
  }
}
