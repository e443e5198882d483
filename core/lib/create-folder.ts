import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and the parents that are missing. `mkdir` of Node.js with `recursive` never ends
 * below `/proc`, which reports every new folder as missing.
 * @param mode of each new folder
 * @returns the first folder that was created; `undefined` if the folder existed
 * @throws the error of `mkdir`.
 */
export async function createFolder(
  path: string,
  mode = 0o777,
  hasParent = false,
): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    if (await isFolder(path)) return undefined;
    if (hasParent || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const first = await createFolder(dirname(path), mode);
    const own = await createFolder(path, mode, true);
    return first ?? own;
  }
}

async function isFolder(path: string): Promise<boolean> {
  const status = await stat(path).catch(() => null);
  return status?.isDirectory() === true;
}
