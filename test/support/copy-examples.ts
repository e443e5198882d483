import { cpSync } from 'node:fs';
import { join } from 'node:path';

/** Copies the `modules.d` of the package into a folder. @returns the path of the copy */
export function copyExamples(folder: string): string {
  const copy = join(folder, 'modules.d');
  cpSync('modules.d', copy, { recursive: true, filter: (path) => !path.includes('.status') });
  return copy;
}
