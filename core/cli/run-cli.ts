import { debuglog } from 'node:util';
import { CommanderError } from 'commander';
import { assertValidFile } from '../document/parse-file.js';
import { ConfigError } from '../errors.js';
import { PluginError } from '../plugin-loader/plugin-error.js';
import { StoreUnavailable } from '../store/store-unavailable.js';
import { UnreadableDirectory } from '../watch/directory.js';
import { CommandError } from './command-error.js';
import { type CommandContext, EXIT, type ExitCode } from './command-module.js';
import { COMMANDS } from './commands.js';
import { toPrintable, toTerminal } from './output/escape.js';
import { createProgram, loadCommand, placeAction } from './program.js';
import { rejectEmptyValues } from './useless-options.js';

/** Commander throws these after it has printed help or the version; `help` is for a missing command. */
const PRINTED: Readonly<Record<string, ExitCode>> = {
  'commander.help': EXIT.usage,
  'commander.helpDisplayed': EXIT.ok,
  'commander.version': EXIT.ok,
};

/**
 * Runs `modgate` with its arguments. Errors print one line on stderr, `modgate: …`: usage and
 * configuration errors exit with 2, failures of a command and bugs of modgate with 1.
 */
export async function runCli(args: readonly string[], given: CommandContext): Promise<ExitCode> {
  const context: CommandContext = {
    ...given,
    print: (text) => given.print(toTerminal(text)),
    printError: (text) => given.printError(toTerminal(text)),
  };
  try {
    return await dispatch(args, context);
  } catch (error) {
    const failure = describeCommandFailure(error) ?? describeBug(error);
    context.printError(`modgate: ${failure.message}\n`);
    return failure.code;
  }
}

/** Errors that a command cannot avoid. */
const FAILURES = [CommandError, PluginError, StoreUnavailable];

/** The message of a failed command, and its exit code; `null` for a bug. */
export function describeCommandFailure(
  thrown: unknown,
): { message: string; code: ExitCode } | null {
  const error = assertValidFile(thrown);
  if (FAILURES.some((known) => error instanceof known)) {
    return { message: toPrintable((error as Error).message), code: EXIT.failure };
  }
  if (error instanceof ConfigError) return { message: error.message, code: EXIT.usage };
  if (error instanceof UnreadableDirectory) {
    return { message: toPrintable(error.message), code: EXIT.usage };
  }
  if (error instanceof CommanderError) {
    return { message: describeUsageError(error.message), code: EXIT.usage };
  }
  return null;
}

/** Users read one line; `NODE_DEBUG=modgate` prints the stack for a bug report. */
function describeBug(error: unknown): { message: string; code: ExitCode } {
  debuglog('modgate')('%O', error);
  const message = `internal error: ${toPrintable(String(error))}`;
  return { message: `${message} (NODE_DEBUG=modgate prints where)`, code: EXIT.failure };
}

async function dispatch(args: readonly string[], context: CommandContext): Promise<ExitCode> {
  const [first = '', ...others] = args;
  if (first === 'complete') {
    const { complete } = await import('./complete.js');
    await context.print(await complete(others.slice(1), context));
    return EXIT.ok;
  }
  let code: ExitCode = EXIT.ok;
  let printed = '';
  const program = createProgram({
    writeOut: (text) => {
      printed += text;
    },
    writeErr: context.printError,
    // runCli prints errors, once and in its own format.
    outputError: () => {},
  });
  const [name = '', ...rest] = normalizeArguments(args);
  const command = await loadCommand(
    program,
    name,
    async (runnable, called) => {
      rejectEmptyValues(called);
      code = await runnable.run(called, context);
    },
    async (runnable, target) => runnable.prepare?.(target, rest, context),
  );
  const placed = command === undefined ? rest : placeAction(command, rest);
  try {
    await program.parseAsync(args.length === 0 ? [] : [name, ...placed], { from: 'user' });
  } catch (error) {
    const exit = error instanceof CommanderError ? PRINTED[error.code] : undefined;
    if (exit === undefined) throw error;
    await context.print(printed);
    code = exit;
  }
  return code;
}

/**
 * Rewrites `help serve` to `serve --help`, because commander's help command would show commands
 * that are not loaded yet. Drops the options of an unknown command, which commander would accept
 * with `--help`.
 */
function normalizeArguments(args: readonly string[]): readonly string[] {
  const [first = '', ...rest] = args;
  if (first === 'help')
    return rest.length === 0 ? ['--help'] : normalizeArguments([...rest, '--help']);
  const isKnown = first.startsWith('-') || COMMANDS.some(({ name }) => name === first);
  return isKnown ? args : [first];
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
