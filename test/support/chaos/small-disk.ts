import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A file system of its own, which a test can fill. */
export interface SmallDisk {
  readonly path: string;
  /** Leaves no space. */
  fill(): void;
  /** Removes what `fill` has written. */
  clear(): void;
  /** Rejects writes as a read-only file system (EROFS): a root user has every permission. */
  setReadOnly(isReadOnly: boolean): void;
  unmount(): void;
}

const STEP_BYTES = 4096;

/** `null` where the user may not mount. */
export function mountSmallDisk(path: string, bytes: number): SmallDisk | null {
  mkdirSync(path, { recursive: true });
  try {
    run('mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path);
  } catch {
    return null;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill: () => {
      for (;;) {
        try {
          appendFileSync(filler, Buffer.alloc(STEP_BYTES));
        } catch {
          return;
        }
      }
    },
    clear: () => rmSync(filler, { force: true }),
    setReadOnly: (isReadOnly) => run('mount', '-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, path),
    unmount: () => run('umount', '--lazy', path),
  };
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}
