import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and the parents that are missing. `mkdir` of Node.js with `recursive` never ends
 * below `/proc`, which reports every new folder as missing.
 * @param mode of each new folder
 * @returns the first folder that was created; `undefined` if the folder existed
 * @throws the error of `mkdir`.
 */
export async function createFolder(path: string, mode = 0o777): Promise<string | undefined> {
  try {
    return await createIn(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const first = await createFolder(dirname(path), mode);
    const own = await createIn(path, mode);
    return first ?? own;
  }
}

/** Creates a folder whose parent exists. @returns `undefined` if it existed itself */
async function createIn(path: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    const status = await stat(path).catch(() => null);
    if (status?.isDirectory() === true) return undefined;
    throw error;
  }
}
