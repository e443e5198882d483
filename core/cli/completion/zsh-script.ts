import {
  type DescribedCommand,
  type DescribedOption,
  PROGRAM_OPTIONS,
  type ValueKind,
} from './describe-commands.js';
import { quoteForShell } from './quote.js';

/** Creates a script for zsh: `source <(modgate completion zsh)`, or a file `_modgate` in `$fpath`. */
export function createZshScript(commands: readonly DescribedCommand[]): string {
  const described = commands.map(({ name, summary }) => {
    return `    ${quoteForShell(`${name}:${summary}`)}`;
  });
  return `#compdef modgate
_modgate() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    _arguments ${PROGRAM_OPTIONS.map(formatOption).join(' ')}
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${commands.map(formatCommand).join('\n')}
  esac
}
if [[ $funcstack[1] == _modgate ]]; then
  _modgate "$@"
else
  compdef _modgate modgate
fi
`;
}

function formatCommand({ name, options, arguments: values }: DescribedCommand): string {
  const specs = [
    ...options.map(formatOption),
    ...values.map((value, index) => quoteForShell(`${index + 1}:value:${formatAction(value)}`)),
  ];
  return `    ${name}) _arguments ${specs.join(' ')} ;;`;
}

function formatOption({ flag, summary, value }: DescribedOption): string {
  const text = summary.replace(/[[\]\\:]/g, '\\$&');
  if (value === null) return quoteForShell(`${flag}[${text}]`);
  return quoteForShell(`${flag}=[${text}]:value:${formatAction(value)}`);
}

function formatAction(value: ValueKind): string {
  switch (value.kind) {
    case 'words':
      return `(${value.words.join(' ')})`;
    case 'file':
      return '_files';
    case 'folder':
      return '_files -/';
    case 'free':
      return ' ';
  }
}
