import { isAbsolute, relative, resolve } from 'node:path';

/** How a file is shown: from the working directory where it lies below that, else from the root. */
export function describeFile(folder: string, file: string): string {
  const path = resolve(folder, file);
  const fromHere = relative(process.cwd(), path);
  const isBelow = fromHere !== '' && !/^\.\.(?:[\\/]|$)/.test(fromHere) && !isAbsolute(fromHere);
  return isBelow ? fromHere : path;
}
