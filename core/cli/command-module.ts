import type { Command } from 'commander';

export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CommandContext {
  readonly environment: NodeJS.ProcessEnv;
  /**
   * Writes to stdout. Resolves when the text has been written, so that an exit cannot truncate it.
   * @throws CommandError when it cannot be written, such as to a full disk.
   */
  print(text: string): Promise<void>;
  printError(text: string): void;
  /** Exits immediately, for cases that cannot wait until `run` returns. */
  exit(code: ExitCode): never;
}

export interface RunnableCommand {
  /** Adds arguments, options and help text. */
  define(command: Command): void;
  /** Adds what depends on the words of the command line, before they are parsed. Default: nothing. */
  prepare?(command: Command, args: readonly string[], context: CommandContext): Promise<void>;
  /**
   * Runs with `command.args` and `command.opts()`. The process exits when it resolves, even if timers
   * or sockets are still active.
   * @throws ConfigError for exit 2, CommandError for exit 1; other errors are bugs.
   */
  run(command: Command, context: CommandContext): Promise<ExitCode>;
}

/** The actions of a command, such as `modgate approvals show`. */
export interface CommandGroup {
  /** `list` is the default. */
  readonly actions: Readonly<Record<string, RunnableCommand & { readonly summary: string }>>;
  /** Follows the list of actions in the help. */
  readonly help?: string;
}

/** A module of `core/cli/commands`, imported when its command is called. */
export type CommandModule = RunnableCommand | CommandGroup;
