import { type CommandModule, EXIT } from '../command-module.js';
import {
  type DescribedCommand,
  type DescribedOption,
  describeCommands,
  type NamedCommand,
  PROGRAM_OPTIONS,
  type ValueKind,
} from '../completion/describe-commands.js';
import { createFishScript } from '../completion/fish-script.js';
import { quoteForShell } from '../completion/quote.js';
import { choiceArgument } from '../setting-options.js';

type CreateScript = (commands: readonly DescribedCommand[]) => string;

const SCRIPTS = {
  bash: createBashScript,
  zsh: createZshScript,
  fish: createFishScript,
} satisfies Record<string, CreateScript>;

type Shell = keyof typeof SCRIPTS;

const HELP = `
bash, in ~/.bashrc:   source <(modgate completion bash)
zsh, in ~/.zshrc:     source <(modgate completion zsh)      (after compinit)
fish:                 modgate completion fish > ~/.config/fish/completions/modgate.fish`;

export function createCompletion(commands: readonly NamedCommand[]): CommandModule {
  return {
    define: (command) => {
      command
        .addArgument(
          choiceArgument('<shell>', 'Shell to print the script for', Object.keys(SCRIPTS)),
        )
        .addHelpText('after', HELP);
    },
    run: async (command, context) => {
      const createScript: CreateScript = SCRIPTS[command.args[0] as Shell];
      await context.print(createScript(await describeCommands(commands)));
      return EXIT.ok;
    },
  };
}

/** Creates a script for bash 3.2 or later: `source <(modgate completion bash)`. */
function createBashScript(commands: readonly DescribedCommand[]): string {
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

/** Completes options after a dash, otherwise arguments; of several, only those before options. */
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

/** Creates a script for zsh: `source <(modgate completion zsh)`, or a file `_modgate` in `$fpath`. */
function createZshScript(commands: readonly DescribedCommand[]): string {
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
