import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { startRabbitServer } from '../../support/cookbook/rabbitmq-server.js';
import { findFreePort } from '../../support/free-port.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { accepts, skip } from './amqp-server.js';

const START_TIMEOUT_MS = 60_000;

/** A broker of the test's own, which takes seconds to start. */
export interface OwnBroker {
  readonly url: string;
  /** The origin of the management API. */
  readonly management: string;
  stop(): Promise<void>;
}

/** Without RabbitMQ on the machine the tests are skipped; in CI they fail. */
export async function startOwnBroker(
  context: Context,
  settings: readonly string[],
): Promise<OwnBroker> {
  try {
    execFileSync('bash', ['-c', 'PATH="$PATH:/usr/sbin" command -v rabbitmq-server']);
  } catch {
    skip(context, 'no rabbitmq-server in PATH');
  }
  const folder = mkdtempSync(join(tmpdir(), 'modgate-rabbitmq-'));
  const [amqp, distribution, management] = [
    await findFreePort(),
    await findFreePort(),
    await findFreePort(),
  ];
  const child = startRabbitServer(folder, { amqp, distribution, management }, settings);
  await waitUntil('the broker accepts connections', () => accepts(amqp), START_TIMEOUT_MS);
  return {
    url: `amqp://127.0.0.1:${amqp}`,
    management: `http://127.0.0.1:${management}`,
    stop: async () => {
      await stop(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // The script of the broker ends the broker, and waits for it.
  child.kill('SIGTERM');
  await ended;
}
