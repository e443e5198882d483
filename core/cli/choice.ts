import { Argument, Option } from 'commander';
import { ConfigError } from '../config/config-error.js';

/** An option whose value is one of some words; shells complete them. */
export function choiceOption(flags: string, help: string, words: readonly string[]): Option {
  const [name = flags] = flags.split(' ');
  return new Option(flags, help).choices(words).argParser(createParser(name, words));
}

/** The same for an argument. */
export function choiceArgument(name: string, help: string, words: readonly string[]): Argument {
  return new Argument(name, help).choices(words).argParser(createParser(name, words));
}

/** Commander's own message would print the value. */
function createParser(name: string, words: readonly string[]): (text: string) => string {
  return (text) => {
    if (words.includes(text)) return text;
    throw new ConfigError(`${name} must be one of ${words.join(', ')}`);
  };
}
