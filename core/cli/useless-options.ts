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
 * Rejects options that would have no effect.
 * @param names - the options, as attributes: `headerKey`.
 * @param reason - completes the message: `with list` or `without --url`.
 * @throws ConfigError that names the first of them that was given as a flag.
 */
export function rejectOptions(command: Command, names: readonly string[], reason: string): void {
  const useless = command.options.find((option) => {
    const name = option.attributeName();
    return names.includes(name) && command.getOptionValueSource(name) === 'cli';
  });
  if (useless === undefined) return;
  throw new ConfigError(`${useless.long} cannot be used ${reason}`);
}
