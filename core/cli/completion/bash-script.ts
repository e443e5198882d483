import { type DescribedCommand, PROGRAM_OPTIONS, type ValueKind } from './describe-commands.js';
import { quoteForShell } from './quote.js';

/** Creates a script for bash 3.2 or later: `source <(modgate completion bash)`. */
export function createBashScript(commands: readonly DescribedCommand[]): string {
  const first = [...commands.map(({ name }) => name), ...PROGRAM_OPTIONS.map(({ flag }) => flag)];
  return `_modgate_words() { COMPREPLY=($(compgen -W "$1" -- "$2")); }
_modgate_paths() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$2"))
}
_modgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _modgate_words ${quoteForShell(first.join(' '))} "$current"
    return
  fi
  case "\${COMP_WORDS[1]} $previous" in
${commands.flatMap(listOptionCases).join('\n')}
  esac
  case "\${COMP_WORDS[1]} $COMP_CWORD $current" in
${commands.flatMap(listCommandCases).join('\n')}
  esac
}
complete -F _modgate modgate
`;
}

/** Completes the values of options. */
function listOptionCases({ name, options }: DescribedCommand): string[] {
  return options.flatMap(({ flag, value }) =>
    value === null ? [] : [`    ${quoteForShell(`${name} ${flag}`)}) ${complete(value)} return ;;`],
  );
}

/**
 * Completes options after a dash, otherwise arguments. One of several arguments is completed only if no
 * options precede it.
 */
function listCommandCases({ name, options, arguments: values }: DescribedCommand): string[] {
  const flags = options.map(({ flag }) => flag).join(' ');
  const words = `_modgate_words ${quoteForShell(flags)} "$current";`;
  return [
    `    ${quoteForShell(name)}' '*' -'*) ${words} ;;`,
    ...values.map((value, index) => {
      const place = values.length === 1 ? `${name} ` : `${name} ${index + 2} `;
      return `    ${quoteForShell(place)}*) ${complete(value)} ;;`;
    }),
  ];
}

function complete(value: ValueKind): string {
  switch (value.kind) {
    case 'words':
      return `_modgate_words ${quoteForShell(value.words.join(' '))} "$current";`;
    case 'file':
      return '_modgate_paths -f "$current";';
    case 'folder':
      return '_modgate_paths -d "$current";';
    case 'free':
      return '';
  }
}
