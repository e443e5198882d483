import { Command, type OutputConfiguration } from 'commander';
import { ConfigError } from '../errors.js';
import { readVersion } from '../version.js';
import type { RunnableCommand } from './command-module.js';
import { COMMANDS } from './commands.js';

/** Creates `modgate` with the names of its commands; `loadCommand` adds the rest of one. */
export function createProgram(output: OutputConfiguration = {}): Command {
  const program = new Command('modgate')
    .description('Gateway for modules that services provide')
    .usage('<command> [options]')
    .version(readVersion(), '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(output);
  for (const { name, summary } of COMMANDS) program.command(name).summary(summary);
  return program;
}

/**
 * Imports and defines a command, with its actions.
 * @returns `undefined` for an unknown name.
 */
export async function loadCommand(
  program: Command,
  name: string,
  run: (runnable: RunnableCommand, command: Command) => Promise<void> = async () => {},
  prepare: (runnable: RunnableCommand, command: Command) => Promise<void> = async () => {},
): Promise<Command | undefined> {
  const entry = COMMANDS.find((one) => one.name === name);
  const command = program.commands.find((one) => one.name() === name);
  if (entry === undefined || command === undefined) return undefined;
  const loaded = await entry.load();
  const define = (target: Command, summary: string, runnable: RunnableCommand) => {
    target.description(summary);
    runnable.define(target);
    target.action(() => run(runnable, target));
  };
  if ('define' in loaded) {
    define(command, entry.summary, loaded);
    await prepare(loaded, command);
    return command;
  }
  const usage = 'list' in loaded.actions ? '[action] [options]' : '<action> [options]';
  command.description(entry.summary).usage(usage).helpCommand(false);
  const actionHelp = `\nmodgate ${name} ACTION --help prints the options of an action.`;
  command.addHelpText('after', `${loaded.help ?? ''}${actionHelp}`);
  for (const [action, { summary, ...runnable }] of Object.entries(loaded.actions)) {
    const isDefault = action === 'list';
    const target = command.command(action, { isDefault });
    define(target.summary(isDefault ? `${summary} (default)` : summary), summary, runnable);
  }
  return command;
}

/**
 * Moves the action of a command before its options, because commander accepts options of an action
 * only after its name.
 */
export function placeAction(
  { commands: actions }: Command,
  args: readonly string[],
): readonly string[] {
  if (actions.length === 0) return args;
  const valued = new Set(
    actions
      .flatMap(({ options }) => options.filter(({ required }) => required))
      .map(({ long }) => long),
  );
  const at = args.findIndex(
    (word, index) => !word.startsWith('-') && !valued.has(args[index - 1] ?? ''),
  );
  const action = args[at] ?? '';
  const names = actions.map((action) => action.name());
  const mayBeAbsent = names.includes('list') || args.includes('--help') || args.includes('-h');
  if (action === '' && mayBeAbsent) return args;
  if (!names.includes(action)) {
    throw new ConfigError(`the action must be one of ${names.join(', ')}`);
  }
  return [action, ...args.toSpliced(at, 1)];
}
