import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { createLog } from '../../log/logger.js';
import { encryptClearValues } from '../../store/encrypt-store.js';
import { parseStoreKeys, STORE_KEY_VARIABLE } from '../../store/encryption-keys.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addJsonOption, isJsonRequested } from '../setting-options.js';
import { addStoreSettings, readStoreSettings } from '../store-settings.js';

const HELP = `
A host with ${STORE_KEY_VARIABLE} rejects sensitive values that are stored in clear. Run this command
once, with the same variable, after a key was added to a store that was written without one.`;

export function define(command: Command): void {
  addJsonOption(command, 'the number of values');
  command.addHelpText('after', HELP);
  addStoreSettings(command);
}

/** Encrypts the sensitive values of a store, also while hosts use it. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { store, state } = await readStoreSettings(command, context);
  const keys = parseStoreKeys(context.environment[STORE_KEY_VARIABLE]);
  if (keys === null) throw new ConfigError(`set ${STORE_KEY_VARIABLE} to the key of the store`);
  const write = (line: string) => void context.printError(line);
  const log = createLog('warn', { write, close: async () => {} });
  try {
    const count = await encryptClearValues(store, state, keys, log);
    const json = `${JSON.stringify({ encrypted: count })}\n`;
    await context.print(isJsonRequested(command) ? json : `encrypted values: ${count}\n`);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new CommandError(error.message);
    throw error;
  }
}
