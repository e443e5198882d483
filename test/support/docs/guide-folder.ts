import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DocumentedBlock } from './documented-commands.js';
import { installModgate } from './install-modgate.js';

/** A folder to follow a guide in, with `modgate` in PATH and in `node_modules`. */
export interface GuideFolder {
  readonly path: string;
  /** Writes the file that the first line of the block names. Returns `null` for any other block. */
  writeFile(block: DocumentedBlock): string | null;
  /** @returns the trimmed output. @throws when it fails. */
  run(command: string): Promise<string>;
  remove(): void;
}

const FILE = /^(?:#|\/\/) ((?:[\w.-]+\/)*[\w.-]+\.(?:mjs|js|ts|json|yaml))\n/;

export function createGuideFolder(): GuideFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'modgate-guide-')));
  mkdirSync(join(path, 'node_modules'));
  symlinkSync(process.cwd(), join(path, 'node_modules/modgate'));
  const superstruct = join(process.cwd(), 'node_modules/superstruct');
  symlinkSync(superstruct, join(path, 'node_modules/superstruct'));
  const restorePath = installModgate(join(path, 'bin'));
  return {
    path,
    writeFile: ({ kind, body }) => {
      const file = FILE.exec(body)?.[1];
      if (file === undefined) return null;
      mkdirSync(dirname(join(path, file)), { recursive: true });
      // JSON has no comments, so the line is not part of the file.
      const text = kind === 'json' ? body.slice(body.indexOf('\n') + 1) : body;
      writeFileSync(join(path, file), text);
      return file;
    },
    run: async (command) => {
      const script = command.replaceAll('npx modgate', 'modgate');
      const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: path });
      return stdout.trim();
    },
    remove: () => {
      restorePath();
      rmSync(path, { recursive: true, force: true });
    },
  };
}
