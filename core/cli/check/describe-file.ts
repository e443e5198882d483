import { isAbsolute, relative, resolve } from 'node:path';

/** The displayed path: relative to the working directory for files below it, otherwise absolute. */
export function describeFile(folder: string, file: string): string {
  const path = resolve(folder, file);
  const fromHere = relative(process.cwd(), path);
  const isBelow = fromHere !== '' && !/^\.\.(?:[\\/]|$)/.test(fromHere) && !isAbsolute(fromHere);
  return isBelow ? fromHere : path;
}
