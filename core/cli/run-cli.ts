import { Command, CommanderError } from 'commander';
import { ConfigError } from '../errors.js';
import { readVersion } from '../version.js';
import { CommandError } from './command-error.js';
import { type CommandContext, EXIT, type ExitCode } from './command-module.js';
import { COMMANDS } from './commands.js';
import { toPrintable } from './output/escape.js';
import { rejectEmptyValues } from './useless-options.js';

/** Commander throws these after it has printed help or the version. */
const PRINTED = new Set(['commander.helpDisplayed', 'commander.version']);

/**
 * Runs `modgate` with its arguments. Errors print one line on stderr, `modgate: …`: usage and
 * configuration errors exit with 2, failures of a command with 1. Throws only for bugs of modgate.
 */
export async function runCli(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  try {
    return await dispatch(args, context);
  } catch (error) {
    const failure = describeCommandFailure(error);
    if (failure === null) throw error;
    context.printError(`modgate: ${failure.message}\n`);
    return failure.code;
  }
}

/** The message of a failed command, and its exit code; `null` for a bug. */
export function describeCommandFailure(error: unknown): { message: string; code: ExitCode } | null {
  if (error instanceof CommandError) {
    return { message: toPrintable(error.message), code: EXIT.failure };
  }
  if (error instanceof ConfigError) return { message: error.message, code: EXIT.usage };
  if (error instanceof CommanderError) {
    return { message: describeUsageError(error.message), code: EXIT.usage };
  }
  return null;
}

async function dispatch(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  let printed = '';
  const program = createProgram((text) => {
    printed += text;
  });
  program.hook('preSubcommand', async (_program, command) => {
    await loadCommand(command, context, (result) => {
      code = result;
    });
  });
  if (args.length === 0) {
    context.printError(program.helpInformation());
    return EXIT.usage;
  }
  try {
    await program.parseAsync(normalizeArguments(args), { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError && PRINTED.has(error.code))) throw error;
    await context.print(printed);
  }
  return code;
}

/**
 * Rewrites `help serve` to `serve --help`, because commander's help command would show commands
 * that are not loaded yet. Drops the options of an unknown command, which commander would accept
 * with `--help`.
 */
function normalizeArguments(args: readonly string[]): string[] {
  const [first = '', second] = args;
  if (first === 'help')
    return second === undefined ? ['--help'] : normalizeArguments([second, '--help']);
  const isKnown = first.startsWith('-') || COMMANDS.some(({ name }) => name === first);
  return isKnown ? [...args] : [first];
}

function createProgram(print: (text: string) => void): Command {
  const program = new Command('modgate')
    .description('Gateway for modules that services provide')
    .usage('<command> [options]')
    .version(readVersion(), '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    // runCli prints errors, once and in its own format.
    .configureOutput({ writeOut: print, outputError: () => {} });
  for (const { name, summary } of COMMANDS) program.command(name).summary(summary);
  return program;
}

/** Imports and defines the command just before commander parses its arguments. */
async function loadCommand(
  command: Command,
  context: CommandContext,
  finish: (code: ExitCode) => void,
): Promise<void> {
  const entry = COMMANDS.find(({ name }) => name === command.name());
  if (entry === undefined) return;
  const loaded = await entry.load();
  command.description(entry.summary);
  loaded.define(command);
  command.action(async () => {
    rejectEmptyValues(command);
    finish(await loaded.run(command, context));
  });
}

/**
 * Formats commander's message as one line: `unknown option '--prot' (did you mean '--port'?)`. Removes the
 * value after `=`, which may be a secret for a misspelled option.
 */
export function describeUsageError(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/^(unknown option '[^'=]*)=.*?'(?=$|\n)/s, "$1'")
    .replace(/\n\(Did you mean (?:one of )?(.*)\?\)$/, (_match, names: string) => {
      const quoted = names.split(', ').map((name) => `'${name}'`);
      return ` (did you mean ${quoted.join(' or ')}?)`;
    })
    .replace(/\. Expected/, ': expected')
    .replace(/\.$/, '');
}
