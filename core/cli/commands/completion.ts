import type { Command } from 'commander';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { choiceArgument } from '../setting-options.js';

/** Each asks `modgate complete` for the words; `:file` and `:folder` leave paths to the shell. */
const SCRIPTS: Readonly<Record<string, string>> = {
  // For bash 3.2 or later.
  bash: `_modgate() {
  local IFS=$'\\n' current="$2"
  COMPREPLY=($("\${1/#\\~\\//$HOME/}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  case "$COMPREPLY" in
    :file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    :folder) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current")) ;;
    *) COMPREPLY=("\${COMPREPLY[@]%%$'\\t'*}")
      # A word that bash has split at '=' is completed behind it.
      [[ $current == -* ]] || COMPREPLY=("\${COMPREPLY[@]#--*=}") ;;
  esac
}
complete -F _modgate modgate
`,
  zsh: `#compdef modgate
_modgate() {
  local -a found
  found=("\${(@f)$(\${\${(Q)words[1]}/#\\~\\//$HOME/} complete -- "\${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  case $found[1] in
    :file) compset -P 1 '--*='; _files ;;
    :folder) compset -P 1 '--*='; _files -/ ;;
    ?*) found=("\${(@)found//:/\\\\:}"); found=("\${(@)found/$'\\t'/:}"); _describe value found ;;
  esac
}
[[ $funcstack[1] == _modgate ]] && _modgate "$@" || compdef _modgate modgate
`,
  fish: `function __modgate_complete
  set -l words (commandline -opc)
  while string match -qr '^\\w+=' -- "$words[1]"; set -e words[1]; end
  set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
  set -l current (commandline -ct)
  set -l word (string trim -lc \\"\\' -- "$current")
  set -l found (command $program complete -- $words[2..-1] "$word" 2>/dev/null)
  switch "$found[1]"
    case :file; complete -C "'' $current"
    case :folder; __fish_complete_directories "$current"
    case '*'; printf '%s\\n' $found
  end
end
complete -c modgate -f -a '(__modgate_complete)'
`,
};

const HELP = `
bash, in ~/.bashrc:   source <(modgate completion bash)
zsh, in ~/.zshrc:     source <(modgate completion zsh)      (after compinit)
fish:                 modgate completion fish > ~/.config/fish/completions/modgate.fish`;

export function define(command: Command): void {
  const shell = choiceArgument('<shell>', 'Shell to print the script for', Object.keys(SCRIPTS));
  command.addArgument(shell).addHelpText('after', HELP);
}

export async function run({ args }: Command, { print }: CommandContext): Promise<ExitCode> {
  await print(SCRIPTS[args[0] ?? ''] ?? '');
  return EXIT.ok;
}
