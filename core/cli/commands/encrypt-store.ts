import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { createLog } from '../../log/logger.js';
import { parseStoreKeys, STORE_KEY_VARIABLE } from '../../store/encryption-keys.js';
import { encryptClearValues } from '../../store/open-store.js';
import type { CommandContext, ExitCode } from '../command-module.js';
import { printResult } from '../output/print-result.js';
import { addJsonOption, addStoreSettings, readStoreSettings } from '../setting-options.js';

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
  const write = (line: string) => void context.printError(`${line}\n`);
  const log = createLog('warn', { write, close: async () => {} });
  const encrypted = await encryptClearValues(store, state, keys, log);
  return printResult(command, context, { encrypted }, () => `encrypted values: ${encrypted}\n`);
}
