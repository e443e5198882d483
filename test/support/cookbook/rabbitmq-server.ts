import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The script in the PATH of Debian runs the broker as another user, who may not read the folder of a test. */
const SERVER = '/usr/lib/rabbitmq/bin/rabbitmq-server';

interface RabbitPorts {
  readonly amqp: number;
  readonly distribution: number;
  readonly management: number;
}

/** A broker of its own beside that of the machine, with the management API. */
export function startRabbitServer(
  parent: string,
  { amqp, distribution, management }: RabbitPorts,
  others: readonly string[] = [],
): ChildProcess {
  const folder = join(parent, 'rabbitmq');
  mkdirSync(folder);
  const settings = [
    `listeners.tcp.1 = 127.0.0.1:${amqp}`,
    'management.tcp.ip = 127.0.0.1',
    `management.tcp.port = ${management}`,
    ...others,
  ];
  writeFileSync(join(folder, 'rabbitmq.conf'), `${settings.join('\n')}\n`);
  writeFileSync(join(folder, 'plugins'), '[rabbitmq_management].\n');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    LANG: 'C.UTF-8',
    RABBITMQ_NODENAME: `modgate${amqp}@localhost`,
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_DIST_PORT: String(distribution),
  };
  // A broker that is killed writes a dump into its folder.
  return spawn('bash', ['-c', `exec ${SERVER}`], { cwd: folder, env, stdio: 'ignore' });
}
