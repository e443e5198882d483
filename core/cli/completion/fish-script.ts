import {
  type DescribedCommand,
  type DescribedOption,
  PROGRAM_OPTIONS,
  type ValueKind,
} from './describe-commands.js';
import { quoteForFish } from './quote.js';

/** Creates a script for fish: `modgate completion fish | source`. */
export function createFishScript(commands: readonly DescribedCommand[]): string {
  const atStart = '__fish_use_subcommand';
  const lines = [
    'complete -c modgate -f',
    ...PROGRAM_OPTIONS.map((option) => formatOption(option, atStart)),
    ...commands.map(({ name, summary }) => {
      return `complete -c modgate -n ${atStart} -a ${name} -d ${quoteForFish(summary)}`;
    }),
    ...commands.flatMap(formatCommand),
  ];
  return `${lines.join('\n')}\n`;
}

function formatCommand({ name, options, arguments: values }: DescribedCommand): string[] {
  const within = quoteForFish(`__fish_seen_subcommand_from ${name}`);
  return [
    ...options.map((option) => formatOption(option, within)),
    ...values
      .filter(({ kind }) => kind !== 'free')
      .map((value) => `complete -c modgate -n ${within} ${formatValue(value)}`),
  ];
}

function formatOption({ flag, summary, value }: DescribedOption, condition: string): string {
  const argument = value === null ? '' : ` -r ${formatValue(value)}`;
  const name = flag.replace(/^--/, '');
  return `complete -c modgate -n ${condition} -l ${name}${argument} -d ${quoteForFish(summary)}`;
}

function formatValue(value: ValueKind): string {
  switch (value.kind) {
    case 'words':
      return `-f -a ${quoteForFish(value.words.join(' '))}`;
    case 'file':
      return '-F';
    case 'folder':
      return "-f -a '(__fish_complete_directories)'";
    case 'free':
      return '-f';
  }
}
