import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ended } from './run-modgate.js';

const MAIN = fileURLToPath(new URL('../../../core/main.js', import.meta.url));

/** A temporary working directory for `modgate`. Remove it in `after`. */
export interface Workplace {
  readonly folder: string;
  /** Writes a file and its folders; objects become JSON. @returns its path. */
  write(name: string, text: string | object): string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  remove(): void;
}

export function createWorkplace(): Workplace {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'modgate-cli-')));
  return {
    folder,
    write: (name, text) => {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text));
      return path;
    },
    run: (args, env = {}) => run(folder, args, env),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function run(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('MODGATE_'));
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
