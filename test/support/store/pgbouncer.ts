import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { POSTGRES_URL } from '../../store/backend.js';
import { findFreePort } from '../free-port.js';
import { waitUntil } from '../http/wait-until.js';

/** Any but root, as which it does not run. */
const OTHER_USER = 65_534;

/** Skips the tests where PgBouncer is missing; in CI they fail. */
export function requirePgBouncer(context: Mocha.Context): void {
  if (spawnSync('pgbouncer', ['-V']).error === undefined) return;
  const message = 'needs pgbouncer: apt-get install pgbouncer';
  if (process.env['CI'] === 'true') throw new Error(message);
  console.log(`      skipped: ${message}`);
  context.skip();
}

/** PgBouncer in front of the PostgreSQL of the tests; it gives a connection away after each transaction. */
export async function startPgBouncer(): Promise<{ url: string; stop(): Promise<void> }> {
  const target = new URL(POSTGRES_URL);
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'modgate-pgbouncer-'));
  chmodSync(folder, 0o755);
  const file = join(folder, 'pgbouncer.ini');
  const login = [
    `user=${target.username || 'postgres'}`,
    ...(target.password === '' ? [] : [`password=${decodeURIComponent(target.password)}`]),
  ].join(' ');
  const lines = [
    '[databases]',
    `* = host=${target.hostname} port=${target.port || 5432} ${login}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 5',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o644 });
  const user = process.getuid?.() === 0 ? { uid: OTHER_USER, gid: OTHER_USER } : {};
  const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...user });
  await waitUntil('PgBouncer', () => isListening(port));
  target.host = `127.0.0.1:${port}`;
  return {
    url: target.href,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
