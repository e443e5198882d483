import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import {
  readDocumentedBlocks,
  readDocumentedCommands,
  runDocumented,
} from '../docs/documented-commands.js';
import { installModgate } from '../docs/install-modgate.js';
import { findFreePort } from '../free-port.js';
import { waitUntil } from '../http/wait-until.js';
import { type Environment, openHost, type RunningModgate } from '../open-host.js';
import { createFolder } from '../temporary-folder.js';

interface PageOptions {
  /** Ports of the servers of the page, which are replaced by free ones; also an origin, by one on such a port. */
  readonly ports: readonly string[];
  /** Programs of the machine that the page needs. Without one, the page is skipped by its name. */
  readonly programs?: readonly string[];
  /** Settings of the host besides those of development. */
  readonly args?: readonly string[];
  readonly env?: Environment;
  /** Makes what the page takes for granted. */
  readonly prepare?: (folder: string) => void;
  /** Starts a server instead of the command that the page has for it. */
  readonly startServer?: (
    folder: string,
    ports: ReadonlyMap<string, number>,
  ) => Promise<ChildProcess>;
}

const FILE = /^(?:#|\/\/) ((?:[\w.-]+\/)*[\w-]+\.(?:conf|mjs|proto|yaml|yml))\n/;
const PATIENCE_MS = 60_000;

/** Follows a page of the cookbook: its files, its servers, a host, and its commands in their order. */
export function useCookbookPage(page: string, options: PageOptions): void {
  const { ports: documented, programs = [], args = [], env = {} } = options;
  const commands = readDocumentedCommands(page);
  const servers: ChildProcess[] = [];
  const ports = new Map<string, number>();
  let folder: string | undefined;
  let host: RunningModgate | undefined;
  const replacePorts = (text: string) =>
    [...ports].reduce((replaced, [from, to]) => {
      const other = from.startsWith('https:') ? `http://127.0.0.1:${to}` : String(to);
      return replaced.replaceAll(from, other);
    }, text);
  let restorePath = () => {};

  before(async function () {
    const missing = programs.filter((name) => !isInstalled(name));
    if (missing.length > 0) return skip(this, page, missing);
    folder = createFolder();
    for (const port of documented) ports.set(port, await findFreePort());
    restorePath = installModgate(join(folder, 'bin'));
    mkdirSync(join(folder, 'modules.d'));
    writeFiles(page, folder, replacePorts);
    options.prepare?.(folder);
    if (options.startServer !== undefined) {
      servers.push(await options.startServer(folder, ports));
    } else {
      for (const command of listServers(page, commands)) {
        servers.push(startServer(replacePorts(command), folder));
      }
    }
    for (const port of ports.values()) await waitUntilOpen(port);
    host = await openHost(
      [
        ...['serve', '--env', 'development', '--port', '0', ...args],
        ...['--modules', join(folder, 'modules.d'), '--state', join(folder, 'state')],
      ],
      env,
    );
  });

  after(async () => {
    restorePath();
    await host?.stop();
    for (const server of servers) await end(server);
  });

  for (const { command, output } of commands) {
    it(`runs as written: ${command.slice(0, 60).replaceAll('\n', ' ')}…`, async () => {
      const { port = 0, url = '' } = host ?? {};
      const script = replacePorts(command).replaceAll('--port=3000', `--port=${port}`);
      expect(await runDocumented(`cd '${folder}'\n${script}`, url)).to.equal(output);
    });
  }

  it('has a command to run', () => {
    expect(commands).not.to.have.length(0);
  });
}

/** CI installs the programs, so that a page is never skipped there. */
function skip(context: Mocha.Context, page: string, missing: readonly string[]): void {
  const words = `${page} needs ${missing.join(', ')}`;
  if (process.env['CI'] !== undefined) throw new Error(words);
  console.log(`      skipped: ${words}`);
  context.skip();
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('bash', ['-c', `command -v '${program}'`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function writeFiles(page: string, folder: string, replacePorts: (text: string) => string): void {
  for (const { body } of readDocumentedBlocks(page)) {
    const [, name] = FILE.exec(body) ?? [];
    if (name === undefined) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), replacePorts(body));
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
}

/** The commands without an output, except the host itself and downloads. */
function listServers(page: string, commands: readonly { readonly command: string }[]): string[] {
  const withOutput = new Set(commands.map(({ command }) => command));
  return readDocumentedBlocks(page)
    .filter(({ kind }) => kind === 'sh')
    .map(({ body }) => body.trim())
    .filter((command) => !withOutput.has(command) && !/^(?:npx modgate|npm) /.test(command));
}

function startServer(command: string, cwd: string): ChildProcess {
  return spawn('bash', ['-c', `exec ${command}`], { cwd, stdio: 'ignore' });
}

async function end(server: ChildProcess): Promise<void> {
  server.kill();
  if (server.exitCode === null && server.signalCode === null) await once(server, 'close');
}

function waitUntilOpen(port: number): Promise<void> {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => socket.destroy() && resolve(true));
      socket.once('error', () => resolve(false));
    });
  return waitUntil(`port ${port} to be open`, isOpen, PATIENCE_MS);
}
