import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { findFreePort } from '../free-port.js';
import { waitUntil } from '../http/wait-until.js';

/** A Redis server of its own. */
export interface RedisServer {
  readonly port: number;
  readonly child: ChildProcess;
  readonly client: Redis;
  kill(): Promise<void>;
}

/** Skips the tests where Redis is missing; in CI they fail. */
export function requireRedisServer(context: Mocha.Context): void {
  if (spawnSync('redis-server', ['--version']).error === undefined) return;
  if (process.env['CI'] === 'true') throw new Error('needs redis-server');
  process.stderr.write('    skipped: needs redis-server\n');
  context.skip();
}

export async function startRedisServer(): Promise<RedisServer> {
  const port = await findFreePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  const client = new Redis(port, '127.0.0.1');
  client.on('error', () => {});
  await waitUntil('Redis', () => client.status === 'ready');
  return {
    port,
    child,
    client,
    kill: async () => {
      client.disconnect();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
