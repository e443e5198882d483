import type { Command } from 'commander';
import type { CommandContext } from './command-module.js';
import { addSettings, readSettings } from './setting-options.js';
import { rejectOptions } from './useless-options.js';

const STORE_SETTINGS = ['state', 'store'] as const;

export function addStoreSettings(command: Command): void {
  addSettings(command, STORE_SETTINGS);
}

/** @throws ConfigError for an invalid setting, and for `--state` with `--store`. */
export async function readStoreSettings(command: Command, context: CommandContext) {
  const { store } = command.opts<{ store?: string }>();
  if (store !== undefined) rejectOptions(command, ['state'], 'with --store');
  return (await readSettings(STORE_SETTINGS, command, context)).config;
}
