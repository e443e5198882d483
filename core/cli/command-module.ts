import type { Command } from 'commander';

/** What `modgate` ends with (contract 8). */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What a command may touch outside itself. */
export interface CommandContext {
  readonly environment: NodeJS.ProcessEnv;
  /** Writes to stdout; resolves when the text is out, so that no exit cuts it off. */
  print(text: string): Promise<void>;
  /** Ends the process at once: only for what cannot wait until `run` returns. */
  exit(code: ExitCode): never;
}

/** A file of `core/cli/commands`, imported when its command is called. */
export interface CommandModule {
  /** Adds arguments, options and text of help. */
  define(command: Command): void;
  /**
   * Runs with what `define` asked for, in `command.args` and `command.opts()`. Whatever still runs when
   * it resolves is cut off.
   * @throws ConfigError for exit 2; any other error is exit 1.
   */
  run(command: Command, context: CommandContext): Promise<ExitCode>;
}
