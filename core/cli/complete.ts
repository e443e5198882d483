import type { Argument, Command, Option } from 'commander';
import { SETTING_NAMES, SETTINGS, settingFlag } from '../config/settings.js';
import type { CommandContext } from './command-module.js';
import { createProgram, loadCommand } from './program.js';

/**
 * Returns what may complete the last of the words that follow `modgate`: a choice a line, with
 * its summary after a tab. `:file` and `:folder` leave a path to the shell.
 */
export async function complete(words: readonly string[], context: CommandContext): Promise<string> {
  const program = createProgram();
  const before = joinSplit(words);
  const current = before.pop() ?? '';
  let command = program;
  let place = 0;
  let option: Option | undefined;
  for (const [index, word] of before.entries()) {
    if (option !== undefined || word.startsWith('-')) {
      option = option === undefined ? findOption(command, word) : undefined;
      continue;
    }
    // `modgate help` is followed by the name of a command.
    if (command === program && place === 0 && word === 'help') continue;
    const next =
      command === program
        ? await loadPrepared(program, word, before.slice(index + 1), context)
        : findAction(command, word);
    if (next === undefined) place += 1;
    else command = next;
  }
  const [, flag] = /^(--[^=]+)=/.exec(current) ?? [];
  if (option !== undefined) return formatChoices(current, listValues(option));
  if (flag !== undefined) {
    const values = listValues(findOption(command, flag));
    const isPath = values.some((value) => value.startsWith(':'));
    return formatChoices(current, isPath ? values : values.map((value) => `${flag}=${value}`));
  }
  if (current.startsWith('-')) {
    const options = listOptions(command).map(({ long, description }) => `${long}\t${description}`);
    return formatChoices(current, options);
  }
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  const argument = registeredArguments[place] ?? (last?.variadic ? last : undefined);
  const names =
    place > 0 ? [] : command.commands.map((each) => `${each.name()}\t${each.summary()}`);
  return formatChoices(current, [...names, ...listValues(argument)]);
}

/** Characters at which bash splits words, into words of their own. */
const BREAKS = /^[=:]+$/;

/** Joins `--env`, `=` and `p`, and the parts of a URL. A word of other shells is not one of breaks. */
function joinSplit(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [index, word] of words.entries()) {
    const isRest = BREAKS.test(words[index - 1] ?? '') && word !== '' && !word.startsWith('-');
    if (isRest || BREAKS.test(word)) joined.push(`${joined.pop() ?? ''}${word}`);
    else joined.push(word);
  }
  return joined;
}

/** Adds what plugins have, as for the help. A plugin that cannot be read leaves the rest. */
function loadPrepared(
  program: Command,
  name: string,
  args: readonly string[],
  context: CommandContext,
): Promise<Command | undefined> {
  return loadCommand(program, name, undefined, async (runnable, target) => {
    await runnable.prepare?.(target, [...args, '--help'], context).catch(() => {});
  });
}

function formatChoices(current: string, choices: readonly string[]): string {
  const fitting = choices.filter((text) => text.startsWith(':') || text.startsWith(current));
  return fitting.map((text) => `${text}\n`).join('');
}

function findAction({ commands }: Command, name: string): Command | undefined {
  return commands.find((action) => action.name() === name);
}

/** The options of a command; before its action, those of the default. */
function listOptions(command: Command): Option[] {
  return command.createHelp().visibleOptions(findAction(command, 'list') ?? command);
}

/** Returns the option if a value follows. */
function findOption(command: Command, flag: string): Option | undefined {
  return listOptions(command).find(({ long, required }) => required && long === flag);
}

function listValues(subject: Option | Argument | undefined): readonly string[] {
  if (subject === undefined) return [];
  if (subject.argChoices !== undefined) return subject.argChoices;
  const words = 'flags' in subject ? wordsOf(subject) : undefined;
  if (words !== undefined) return words;
  const [, placeholder = subject.name()] =
    'flags' in subject ? (/<(.+)>/.exec(subject.flags) ?? []) : [];
  if (/^(?:file|source)(?:\||$)/.test(placeholder)) return [':file'];
  return /^dirs?$/.test(placeholder) ? [':folder'] : [];
}

/** The words of a setting that has a fixed set of them. */
function wordsOf({ long }: Option): readonly string[] | undefined {
  const name = SETTING_NAMES.find((setting) => settingFlag(setting) === long);
  return name && SETTINGS[name].kind.words;
}
