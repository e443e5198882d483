import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { findFreePort } from '../free-port.js';
import { waitUntil } from '../http/wait-until.js';

/** Any but root, as which it does not run. */
const OTHER_USER = 65_534;
const USER = process.getuid?.() === 0 ? { uid: OTHER_USER, gid: OTHER_USER } : {};
const PROGRAMS = ['initdb', 'postgres', 'pg_basebackup'];

/** A PostgreSQL server of its own. */
export interface PostgresServer {
  readonly port: number;
  run(text: string): Promise<pg.QueryResult>;
  kill(): Promise<void>;
}

/** A primary, and its standby until it is promoted. */
export interface PostgresPair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  stop(): Promise<void>;
}

/** Skips the tests where the programs of PostgreSQL are missing; in CI they fail. */
export function requirePostgresPrograms(context: Mocha.Context): void {
  const missing = PROGRAMS.filter((name) => spawnSync(name, ['-V']).error !== undefined);
  if (missing.length === 0) return;
  const message = `needs ${missing.join(', ')} of PostgreSQL in PATH`;
  if (process.env['CI'] === 'true') throw new Error(message);
  console.log(`      skipped: ${message}`);
  context.skip();
}

export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-postgres-'));
  if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid);
  const [first, second] = [join(folder, 'primary'), join(folder, 'standby')];
  runProgram('initdb', ['-D', first, '-U', 'postgres', '-A', 'trust', '--no-sync']);
  const primary = await startServer(first);
  const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
  runProgram('pg_basebackup', [...from, '-D', second, '-R', '-c', 'fast', '--no-sync']);
  const standby = await startServer(second);
  return {
    primary,
    standby,
    stop: async () => {
      await Promise.all([primary.kill(), standby.kill()]);
      rmSync(folder, { recursive: true });
    },
  };
}

function runProgram(name: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(name, args, { ...USER, encoding: 'utf8', cwd: tmpdir() });
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
}

async function startServer(folder: string): Promise<PostgresServer> {
  const port = await findFreePort();
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const args = [...settings, 'fsync=off'].flatMap((setting) => ['-c', setting]);
  const child = spawn('postgres', ['-D', folder, ...args], { ...USER, stdio: 'ignore' });
  const run = async (text: string) => {
    const client = new pg.Client(`postgres://postgres@127.0.0.1:${port}/postgres`);
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  };
  await waitUntil('PostgreSQL', () =>
    run('select 1').then(
      () => true,
      () => false,
    ),
  );
  return { port, run, kill: () => killServer(child) };
}

/** An immediate shutdown; SIGKILL would leave the children of the server. */
async function killServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGQUIT');
  await ended;
}
