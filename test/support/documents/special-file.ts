import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';

const GIB = 1024 ** 3;

/** Files that must not be read. Each function creates one at a path. */
export const SPECIAL_FILES = {
  // Opening it waits for a writer.
  pipe: (path) => void execFileSync('mkfifo', [path]),
  folder: (path) => void mkdirSync(path),
  // Reading it has no end.
  device: (path) => symlinkSync('/dev/zero', path),
  // One GiB that takes no space.
  huge: (path) => {
    const file = openSync(path, 'w');
    ftruncateSync(file, GIB);
    closeSync(file);
  },
  loop: (path) => symlinkSync(path, path),
  'broken link': (path) => symlinkSync(`${path}.missing`, path),
} as const satisfies Readonly<Record<string, (path: string) => void>>;

export type SpecialFile = keyof typeof SPECIAL_FILES;

/** Creates the file, and its folder. */
export function placeSpecialFile(kind: SpecialFile, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  SPECIAL_FILES[kind](path);
}
