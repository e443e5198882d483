import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createFolder } from '../temporary-folder.js';
import type { Ended } from './run-here.js';
import { runModgate } from './run-modgate.js';

/** A temporary working directory for `modgate`. */
export interface Workplace {
  readonly folder: string;
  /** Writes a file and its folders; objects become JSON. @returns its path. */
  write(name: string, text: string | object): string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
}

export function createWorkplace(): Workplace {
  const folder = realpathSync(createFolder());
  return {
    folder,
    write: (name, text) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text));
      return path;
    },
    run: (args, env = {}) => run(folder, args, env),
  };
}

/** The working directory is that of the process, so one command runs at a time. */
let last: Promise<unknown> = Promise.resolve();

function run(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const ended = last.then(async () => {
    const before = process.cwd();
    process.chdir(cwd);
    try {
      return await runModgate(args, env);
    } finally {
      process.chdir(before);
    }
  });
  last = ended.catch(() => {});
  return ended;
}
