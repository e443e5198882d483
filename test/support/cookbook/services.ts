import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { readDocumentedBlocks } from '../docs/documented-commands.js';
import { MAIN } from '../main-file.js';

/** The files of a page outside `modules.d`: servers, and what they read. */
const FILE_NAME = /^(?:\/\/|#) ([\w-]+\.(?:mjs|yaml))\n/;
const NPX = /^npx (?:--package (\S+)@([\d.]+) (\S+)|(\S+)@([\d.]+)) (.*)$/;
const require = createRequire(import.meta.url);

/** The services of the pages, with free ports instead of the documented ones. */
export class CookbookServices {
  readonly #directory: string;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #children: ChildProcess[] = [];

  /** @param ports by the port of the pages */
  constructor(directory: string, ports: ReadonlyMap<string, number>) {
    this.#directory = directory;
    this.#ports = ports;
  }

  /** Writes the files of a page, then starts its servers. */
  start(page: string): void {
    const blocks = readDocumentedBlocks(page);
    for (const { body } of blocks) {
      const [, name] = FILE_NAME.exec(body) ?? [];
      if (name === undefined) continue;
      this.#write(name, body);
      if (name.endsWith('.mjs')) this.#run([name]);
    }
    for (const [index, { body }] of blocks.entries()) {
      if (!/^npx (?!modgate )/.test(body)) continue;
      const args = toInstalled(this.#replacePorts(body.trim()));
      const before = blocks[index - 1];
      // JSON has no comments, so the command names the file.
      if (before?.kind === 'json') this.#write(args.at(-1) ?? '', before.body);
      this.#run(args);
    }
  }

  /** Replaces the ports in a file of the directory. */
  replacePortsOf(name: string): void {
    this.#write(name, readFileSync(join(this.#directory, name), 'utf8'));
  }

  /** @returns the output of a command `npx modgate …` of a page */
  runModgate(command: string): string {
    const args = this.#replacePorts(command).split(' ').slice(2);
    const options = { cwd: this.#directory, encoding: 'utf8' } as const;
    return execFileSync(process.execPath, [MAIN, ...args], options).trim();
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      child.kill();
      if (child.exitCode === null) await once(child, 'close');
    }
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#directory, name), this.#replacePorts(text));
  }

  #run(args: readonly string[]): void {
    const options = { cwd: this.#directory, stdio: 'ignore' } as const;
    this.#children.push(spawn(process.execPath, args, options));
  }

  #replacePorts(text: string): string {
    return [...this.#ports].reduce(
      (replaced, [documented, port]) => replaced.replaceAll(documented, String(port)),
      text,
    );
  }
}

/** The arguments for Node.js instead of an `npx` command, with the installed version of its package. */
function toInstalled(command: string): string[] {
  const [, name, version, bin, same, sameVersion, rest] = NPX.exec(command) ?? [];
  const pkg = readPackage(name ?? same ?? '');
  const expected = version ?? sameVersion;
  if (pkg.version !== expected) throw new Error(`${command}: ${pkg.version} is installed`);
  return [pkg.scriptOf(bin), ...(rest ?? '').split(' ')];
}

function readPackage(name: string) {
  const file = require.resolve(`${name}/package.json`);
  const { version, bin } = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly version: string;
    readonly bin: string | Readonly<Record<string, string>>;
  };
  const scriptOf = (command = '') =>
    join(dirname(file), typeof bin === 'string' ? bin : (bin[command] ?? ''));
  return { version, scriptOf };
}
