import { type CommandModule, EXIT } from '../command-module.js';
import { createBashScript } from '../completion/bash-script.js';
import {
  type DescribedCommand,
  describeCommands,
  type NamedCommand,
} from '../completion/describe-commands.js';
import { createFishScript } from '../completion/fish-script.js';
import { createZshScript } from '../completion/zsh-script.js';
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

/** Prints a script that completes commands, options and values. */
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
