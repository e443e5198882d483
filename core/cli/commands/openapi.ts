import type { Command } from 'commander';
import { type DocumentForm, VIEWS } from '../../openapi/create-document.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addDocumentOptions, readDocument } from '../openapi/read-document.js';
import { choiceOption } from '../setting-options.js';

const HELP = `
Prints JSON: the OpenAPI 3.1 document of GET /openapi.json. With --modules it
reads files instead of calling a host, and describes bearer tokens and the
header of MODGATE_TOKEN_HEADER alone. Modules whose manifest is at the provider
or behind a URL are left out then.`;

export function define(command: Command): void {
  command.argument('[module...]', 'Modules to describe (default: all)').addHelpText('after', HELP);
  addDocumentOptions(command);
  const help = 'Describe responses without the envelope, as clients see them';
  command.addOption(choiceOption('--view <view>', help, VIEWS));
  command.option('--json', 'Changes nothing: the document is JSON');
}

export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { view = null } = command.opts<Partial<DocumentForm>>();
  await context.print(`${await readDocument(command, context, view)}\n`);
  return EXIT.ok;
}
