import type { Command } from 'commander';
import { ConfigError } from '../errors.js';

/**
 * Rejects an empty value, which is usually an unset variable of a script. Ignoring it would run a
 * different command.
 * @throws ConfigError that names the first option or argument with an empty value.
 */
export function rejectEmptyValues(command: Command): void {
  for (const option of command.options) {
    if (command.getOptionValue(option.attributeName()) !== '') continue;
    throw new ConfigError(`${option.long} must not be empty`);
  }
  const index = command.args.indexOf('');
  if (index === -1) return;
  const { registeredArguments: argumentsOfCommand } = command;
  const name = (argumentsOfCommand[index] ?? argumentsOfCommand.at(-1))?.name();
  throw new ConfigError(`argument '${name}' must not be empty`);
}

/**
 * The options without effect, as attributes such as `headerKey`, by their case: `with --json`,
 * `without --url`, or `with a module` for any argument.
 */
export type UselessOptions = Readonly<Record<string, readonly string[]>>;

/** Rejects these options before the command runs. */
export function addUselessOptions(command: Command, useless: UselessOptions): void {
  command.hook('preAction', () => rejectUselessOptions(command, useless));
}

/** @throws ConfigError that names the first of them that was given as a flag. */
export function rejectUselessOptions(command: Command, useless: UselessOptions): void {
  const sourceOf = (flag: string) => {
    const option = command.options.find(({ long }) => long === flag);
    return option && command.getOptionValueSource(option.attributeName());
  };
  for (const [when, names] of Object.entries(useless)) {
    const [, flag] = /^\w+ (--[a-z-]+)/.exec(when) ?? [];
    const isGiven = flag === undefined ? command.args.length > 0 : sourceOf(flag) === 'cli';
    if (isGiven !== when.startsWith('with ')) continue;
    const option = command.options.find(
      (one) =>
        names.includes(one.attributeName()) &&
        command.getOptionValueSource(one.attributeName()) === 'cli',
    );
    if (option !== undefined) throw new ConfigError(`${option.long} cannot be used ${when}`);
  }
}
