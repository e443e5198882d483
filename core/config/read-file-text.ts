import { FileTrouble, readTextFile } from '../document/read-file.js';
import { createFileFinding, InvalidFile } from '../host/finding.js';

/** @throws InvalidFile when it is missing, unreadable, no file, too large or not UTF-8. */
export async function readFileText(file: string): Promise<string> {
  try {
    return await readTextFile(file);
  } catch (error) {
    if (!(error instanceof FileTrouble)) throw error;
    throw new InvalidFile([createFileFinding(file, error.code, error.message)]);
  }
}
