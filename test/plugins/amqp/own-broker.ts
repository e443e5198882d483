import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from 'mocha';
import { startRabbitServer } from '../../support/cookbook/rabbitmq-server.js';
import { findFreePort } from '../../support/free-port.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { accepts, skip } from './amqp-server.js';

const START_TIMEOUT_MS = 120_000;
const MORE_THAN_ANY_DISK = '1000000GB';

/** A broker of the test's own, which takes seconds to start. */
export interface OwnBroker {
  readonly url: string;
  /** The origin of the management API. */
  readonly management: string;
  /** Raises the alarm of the disk, so that the broker accepts no messages. */
  raiseAlarm(): void;
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
    raiseAlarm: () => {
      const cookie = readFileSync(join(folder, 'rabbitmq/.erlang.cookie'), 'utf8');
      const call = `rabbit_disk_monitor set_disk_free_limit ["${MORE_THAN_ANY_DISK}"]`;
      // Costs a hundredth of the processor time of `rabbitmqctl`, or of another broker.
      execFileSync('erl_call', ['-address', `127.0.0.1:${distribution}`, '-c', cookie, '-a', call]);
    },
    stop: async () => {
      await stop(child);
      // The broker outlives its script by a moment; this port is its last.
      const isGone = async () => !(await isOpen(distribution));
      await waitUntil('the broker has ended', isGone, START_TIMEOUT_MS);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const settle = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
