import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { findFreePort } from '../free-port.js';
import { waitUntil } from '../http/wait-until.js';

/** Packages install it where only root looks for programs. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;
const FIXED = ['listen-address=127.0.0.1', 'bind-interfaces', 'no-resolv', 'no-hosts', 'no-poll'];

/** A real DNS server on a free port of loopback. Without a binary the test is skipped; in CI it fails. */
export class Dnsmasq {
  readonly #directory = mkdtempSync(join(tmpdir(), 'modgate-dnsmasq-'));
  readonly #port: number;
  #child: ChildProcess | null = null;

  private constructor(port: number) {
    this.#port = port;
  }

  /** @param records lines of its configuration */
  static async start(context: Context, records: readonly string[]): Promise<Dnsmasq> {
    const server = new Dnsmasq(await findFreePort());
    try {
      await server.serve(records);
      return server;
    } catch (error) {
      await server.stop();
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      const reason = 'no dnsmasq in PATH';
      if (process.env['CI'] === 'true') throw new Error(reason);
      process.stderr.write(`skipped: ${reason}\n`);
      return context.skip();
    }
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Restarts it with other records; meanwhile it does not answer. */
  async serve(records: readonly string[]): Promise<void> {
    await this.#end();
    const file = join(this.#directory, 'dnsmasq.conf');
    writeFileSync(file, [...FIXED, 'local=/internal/', ...records, ''].join('\n'));
    const user = process.getuid?.() === 0 ? ['--user=root'] : [];
    const args = ['--keep-in-foreground', `--port=${this.#port}`, '--pid-file=', ...user];
    const child = spawn('dnsmasq', [...args, `--conf-file=${file}`, '--log-facility=-'], {
      env: { PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    await once(child, 'spawn');
    this.#child = child;
    await waitUntil('dnsmasq listens', () => {
      if (child.exitCode !== null) throw new Error(`dnsmasq exited: ${output}`);
      return output.includes('started');
    });
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}
