import { Argument, type Command, Option } from 'commander';
import { type ReadConfig, readConfig } from '../config/read-config.js';
import { SETTINGS, type SettingName, settingFlag, settingVariable } from '../config/settings.js';
import { ConfigError } from '../errors.js';
import type { Attempt } from '../lib/attempt.js';
import type { CommandContext } from './command-module.js';
import { addUselessOptions } from './useless-options.js';

const SOURCES = `
Each option can also be set by a variable (${settingVariable('drainMs')} for ${settingFlag('drainMs')}) or in the file
of --config, without --. A flag overrides a variable, a variable overrides the file.`;

/** Adds flags for these settings and `--config`. */
export function addSettings(command: Command, names: readonly SettingName[]): void {
  for (const name of names) command.option(formatFlag(name), formatHelp(name));
  command
    .option('--config <file>', 'Read these settings from a YAML file')
    .addHelpText('after', SOURCES);
}

/**
 * @param attempt receives each invalid setting; without it the first one throws
 * @throws ConfigError
 */
export function readSettings<Name extends SettingName>(
  names: readonly Name[],
  command: Command,
  context: CommandContext,
  attempt?: Attempt,
): Promise<ReadConfig<Name>> {
  return readConfig(names, { flags: command.opts(), environment: context.environment }, attempt);
}

function formatFlag(name: SettingName): string {
  const { placeholder } = SETTINGS[name].kind;
  return placeholder === null ? settingFlag(name) : `${settingFlag(name)} <${placeholder}>`;
}

function formatHelp(name: SettingName): string {
  const { help, unit, default: text, kind } = SETTINGS[name];
  if (text === undefined || kind.placeholder === null) return help;
  return `${help} (default: ${text}${unit === undefined ? '' : ` ${unit}`})`;
}

/** Creates an option with a fixed set of values, which shells complete. */
export function choiceOption(flags: string, help: string, words: readonly string[]): Option {
  const [name = flags] = flags.split(' ');
  return new Option(flags, help).choices(words).argParser(createParser(name, words));
}

export function choiceArgument(name: string, help: string, words: readonly string[]): Argument {
  return new Argument(name, help).choices(words).argParser(createParser(name, words));
}

/** Replaces commander's parser, whose message contains the value. */
function createParser(name: string, words: readonly string[]): (text: string) => string {
  return (text) => {
    if (words.includes(text)) return text;
    throw new ConfigError(`${name} must be one of ${words.join(', ')}`);
  };
}

export function addJsonOption(command: Command, content: string): void {
  command.option('--json', `Print ${content} as JSON`);
}

export function isJsonRequested(command: Command): boolean {
  return command.opts<{ json?: true }>().json === true;
}

/** An id of the host, which is part of a path. */
const ID = /^[A-Za-z0-9_-]{1,64}$/;

export function addIds(command: Command, help: string): void {
  command.argument('<ids...>', help, (id: string) => {
    if (!ID.test(id)) throw new ConfigError('an id must have 1 to 64 of A-Z, a-z, 0-9, _ and -');
  });
}

const STORE_SETTINGS = ['state', 'store'] as const;

export function addStoreSettings(command: Command): void {
  addSettings(command, STORE_SETTINGS);
  addUselessOptions(command, { 'with --store': ['state'] });
}

/** @throws ConfigError for an invalid setting. */
export async function readStoreSettings(command: Command, context: CommandContext) {
  return (await readSettings(STORE_SETTINGS, command, context)).config;
}
