import type { Command } from 'commander';

export function addJsonOption(command: Command, what: string): void {
  command.option('--json', `print ${what} as JSON`);
}

export function wantsJson(command: Command): boolean {
  return command.opts<{ json?: true }>().json === true;
}
