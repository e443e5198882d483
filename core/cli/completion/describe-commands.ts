import { type Argument, Command, type Option } from 'commander';
import type { CommandModule } from '../command-module.js';

/** The completion of a value. `free` values cannot be completed. */
export type ValueKind =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'free' };

export interface DescribedOption {
  /** `--format` */
  readonly flag: string;
  readonly summary: string;
  /** `null` for an option without a value. */
  readonly value: ValueKind | null;
}

export interface DescribedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly DescribedOption[];
  readonly arguments: readonly ValueKind[];
}

export interface NamedCommand {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Pick<CommandModule, 'define'>>;
}

const HELP: DescribedOption = { flag: '--help', summary: 'Print this help', value: null };

export const PROGRAM_OPTIONS: readonly DescribedOption[] = [
  HELP,
  { flag: '--version', summary: 'Print the version', value: null },
];

export function describeCommands(commands: readonly NamedCommand[]): Promise<DescribedCommand[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => {
      const command = new Command(name);
      (await load()).define(command);
      return {
        name,
        summary,
        options: [...command.options.map(describeOption), HELP],
        arguments: command.registeredArguments.map(describeArgument),
      };
    }),
  );
}

function describeOption(option: Option): DescribedOption {
  const [, placeholder] = /[<[](.+)[>\]]$/.exec(option.flags) ?? [];
  return {
    flag: option.long ?? option.flags,
    summary: option.description,
    value: placeholder === undefined ? null : describeValue(placeholder, option.argChoices),
  };
}

function describeArgument(argument: Argument): ValueKind {
  return describeValue(argument.name(), argument.argChoices);
}

function describeValue(placeholder: string, choices: readonly string[] | undefined): ValueKind {
  if (choices !== undefined) return { kind: 'words', words: choices };
  if (/^file(?:\||$)/.test(placeholder)) return { kind: 'file' };
  return { kind: placeholder === 'dir' ? 'folder' : 'free' };
}
