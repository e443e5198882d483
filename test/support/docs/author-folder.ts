import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { MAIN } from '../main-file.js';
import { createFolder } from '../temporary-folder.js';
import { packModgate } from './package-folder.js';

const execute = promisify(execFile);

/** The output of npm when it cannot reach its registry. */
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/;
const INSTALL_FLAGS = '--prefer-offline --no-audit --no-fund';
const MAX_OUTPUT_BYTES = 16 * 1_048_576;

interface ShellResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder outside this repository with `modgate` as a packed tarball, like that of an author. */
export interface AuthorFolder {
  readonly folder: string;
  /** Runs a script in bash, in the working directory in which the previous one ended. */
  run(script: string): Promise<ShellResult>;
}

/** Packs the files that would be published. Requires a build. */
export async function createAuthorFolder(): Promise<AuthorFolder> {
  const folder = realpathSync(createFolder());
  const tarball = await packModgate(folder);
  let directory = join(folder, 'work');
  mkdirSync(directory);
  const env = createEnvironment(folder);
  return {
    folder,
    run: async (script) => {
      const left = join(folder, 'left-off');
      const result = await runBash(
        `set -e\ncd '${directory}'\n${fromTarball(script, tarball)}\npwd > '${left}'`,
        env,
      );
      if (result.code === 0) directory = (await execute('cat', [left])).stdout.trim();
      return result;
    },
  };
}

export function isRegistryUnreachable({ code, stderr }: ShellResult): boolean {
  return code !== 0 && UNREACHABLE.test(stderr);
}

/**
 * Replaces the package of the registry by the tarball, because it is not published yet. Before a package is
 * installed, `npx` would download modgate again.
 */
function fromTarball(script: string, tarball: string): string {
  return script
    .replace(/^npx modgate@latest /gm, 'modgate ')
    .replace(/^npm install$/gm, `npm install ${INSTALL_FLAGS} --save-dev '${tarball}'`);
}

/** The environment of a new shell, without the variables of npm and the test runner. */
function createEnvironment(folder: string): NodeJS.ProcessEnv {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const file = join(bin, 'modgate');
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(file, 0o755);
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:MODGATE_|NODE_OPTIONS$|NODE_TEST_CONTEXT$|npm_(?!config_))/.test(name),
  );
  const environment = Object.fromEntries(inherited);
  return { ...environment, PATH: `${bin}${delimiter}${environment['PATH']}` };
}

async function runBash(script: string, env: NodeJS.ProcessEnv): Promise<ShellResult> {
  try {
    const options = { env, maxBuffer: MAX_OUTPUT_BYTES };
    return { code: 0, ...(await execute('bash', ['-c', script], options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as ShellResult;
    return { code, stdout, stderr };
  }
}
