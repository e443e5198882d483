import { connect as connectTcp } from 'node:net';
import type { Context } from 'mocha';

const HOST = '127.0.0.1';

/** The port of a broker on this machine, with its user guest. */
export const RABBITMQ_PORT = Number(process.env['MODGATE_TEST_RABBITMQ'] ?? 5672);

export const RABBITMQ_URL = `amqp://${HOST}:${RABBITMQ_PORT}`;

/**
 * A hook for `before`: without a broker the tests are skipped, with the reason on stderr; in CI
 * they fail.
 */
export async function needRabbit(context: Context): Promise<void> {
  if (await accepts(RABBITMQ_PORT)) return;
  skip(context, `no RabbitMQ at ${RABBITMQ_URL} (MODGATE_TEST_RABBITMQ names another port)`);
}

export function skip(context: Context, reason: string): never {
  if (process.env['CI'] === 'true') throw new Error(reason);
  process.stderr.write(`skipped: ${reason}\n`);
  return context.skip();
}

/** Whether a broker starts a conversation. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, HOST, () => socket.write('AMQP\0\0\u0009\u0001'));
    const settle = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.setTimeout(3_000, () => settle(false));
  });
}
