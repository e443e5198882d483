import { join } from 'node:path';
import { InvalidFile } from '../../document/diagnostic.js';
import { readStructuredText } from '../../document/parse-document.js';
import { ConfigError } from '../../errors.js';
import { readDirectory, UnreadableDirectory } from '../../watch/directory.js';

/**
 * A host rejects a second descriptor with the same module name.
 * @throws ConfigError that names the existing file.
 */
export async function assertNameAvailable(name: string, folder: string): Promise<void> {
  for (const entry of await listFiles(folder)) {
    if (!('text' in entry) || readModule(entry.file, entry.text) !== name) continue;
    throw new ConfigError(`module '${name}' is already configured by ${join(folder, entry.file)}`);
  }
}

/** Returns an empty list for a missing or unreadable folder: writing to it reports the error. */
async function listFiles(folder: string) {
  try {
    return (await readDirectory(folder)).files;
  } catch (error) {
    if (error instanceof UnreadableDirectory) return [];
    throw error;
  }
}

function readModule(file: string, text: string): unknown {
  try {
    const { value } = readStructuredText(file, text);
    return (value as { module?: unknown } | null)?.module;
  } catch (error) {
    if (error instanceof InvalidFile) return undefined;
    throw error;
  }
}
