import { resolve } from 'node:path';
import { InvalidFile } from '../document/diagnostic.js';
import { readStructuredText, type StructuredText } from '../document/parse-document.js';
import { FileError, readTextFile } from '../document/read-file.js';

/** The text of a descriptor as it is now; `null` if it cannot be read. */
export async function readDescriptorText(modulesDir: string, file: string): Promise<string | null> {
  try {
    return await readTextFile(resolve(modulesDir, file));
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}

/**
 * Reads a file of a module as it is now.
 * @param file relative to the folder of descriptors
 * @returns `null` for a file that is missing or invalid
 */
export async function readModuleDocument(
  modulesDir: string,
  file: string,
): Promise<StructuredText | null> {
  const text = await readDescriptorText(modulesDir, file);
  if (text === null) return null;
  try {
    return readStructuredText(file, text);
  } catch (error) {
    if (error instanceof InvalidFile) return null;
    throw error;
  }
}
