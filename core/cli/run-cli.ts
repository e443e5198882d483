import { Command, CommanderError } from 'commander';
import { ConfigError } from '../errors.js';
import { readVersion } from '../version.js';
import { type CommandContext, EXIT, type ExitCode } from './command-module.js';
import { COMMANDS } from './commands.js';

/** Commander throws these when it has printed what was asked for. */
const PRINTED = new Set(['commander.helpDisplayed', 'commander.version']);

/**
 * Runs `modgate` with the arguments after its name. What ops have to put right is one line on stderr,
 * `modgate: …`, and 2. Throws only what is a fault of modgate itself.
 */
export async function runCli(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  try {
    return await dispatch(args, context);
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof CommanderError)) throw error;
    const message =
      error instanceof ConfigError ? error.message : describeUsageError(error.message);
    process.stderr.write(`modgate: ${message}\n`);
    return EXIT.usage;
  }
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
    process.stderr.write(program.helpInformation());
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
 * `help serve` is `serve --help`: commander's own would show a command that is not loaded yet. An unknown
 * command goes alone, since with `--help` commander would not mind it.
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
    .description('a host in front of modules that services provide')
    .usage('<command> [options]')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    // Errors are told once, by runCli, in words of our own.
    .configureOutput({ writeOut: print, outputError: () => {} });
  for (const { name, summary } of COMMANDS) program.command(name).summary(summary);
  return program;
}

/** Fills in what the table of commands leaves out, just before commander parses for it. */
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
  command.action(async () => finish(await loaded.run(command, context)));
}

/**
 * Commander's message as one line of ours: `unknown option '--prot' (did you mean '--port'?)`. What follows
 * `=` is cut off, since it may be a secret under a misspelled name.
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
