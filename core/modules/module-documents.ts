import { resolve } from 'node:path';
import { InvalidFile } from '../document/diagnostic.js';
import { readStructuredText, type StructuredText } from '../document/parse-document.js';
import { FileError, readTextFile } from '../document/read-file.js';

/** Reads the current text of a descriptor; returns `null` if it cannot be read. */
export async function readDescriptorText(modulesDir: string, file: string): Promise<string | null> {
  try {
    return await readTextFile(resolve(modulesDir, file));
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}

/**
 * Reads the current file of a module.
 * @param file relative to the folder of descriptors
 * @returns `null` for a missing or invalid file
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
