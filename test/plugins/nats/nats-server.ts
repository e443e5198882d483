import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'mocha';

export const NATS_URL = process.env['MODGATE_TEST_NATS'] ?? 'nats://127.0.0.1:4222';

const START_DEADLINE_MS = 15_000;

/**
 * A hook for `before`: without a server the tests are skipped, with the reason on stderr; in CI
 * they fail.
 */
export async function needNats(context: Context): Promise<void> {
  const { hostname, port } = new URL(NATS_URL);
  if (await answers(hostname, Number(port || 4222))) return;
  skip(context, `no NATS server at ${NATS_URL} (MODGATE_TEST_NATS names another)`);
}

/** The test's own server, which it may stop. Without a binary the test is skipped; in CI it fails. */
export async function needOwnServer(
  context: Context,
  config = '',
  files: Readonly<Record<string, string>> = {},
): Promise<OwnServer> {
  const server = new OwnServer(config, files);
  try {
    await server.start();
  } catch (error) {
    server.remove();
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    skip(context, 'no nats-server in PATH');
  }
  return server;
}

function skip(context: Context, reason: string): never {
  if (process.env['CI'] === 'true') throw new Error(reason);
  process.stderr.write(`skipped: ${reason}\n`);
  return context.skip();
}

/** `DIR` in the config stands for the folder of the files. */
export class OwnServer {
  readonly directory: string;
  readonly #config: string;
  #child: ChildProcess | null = null;
  #port = 0;

  constructor(config: string, files: Readonly<Record<string, string>>) {
    this.directory = mkdtempSync(join(tmpdir(), 'modgate-nats-'));
    this.#config = config.replaceAll('DIR', this.directory);
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(this.directory, name), text);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** Listens on a free port at first, and on the same one after `stop`. */
  async start(): Promise<void> {
    const file = join(this.directory, 'server.conf');
    writeFileSync(file, `host: 127.0.0.1\nport: ${this.#port || -1}\n${this.#config}\n`);
    const child = spawn('nats-server', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    let output = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await once(child, 'spawn');
    const end = performance.now() + START_DEADLINE_MS;
    while (!output.includes('Server is ready')) {
      if (performance.now() > end || child.exitCode !== null) {
        throw new Error(`nats-server did not start:\n${output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const listening = /Listening for client connections on [^\n]*:(\d+)/.exec(output);
    this.#port = Number(listening?.[1]);
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, host);
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.setTimeout(3_000, () => settle(false));
    const settle = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
  });
}
