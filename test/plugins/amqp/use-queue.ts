import { randomUUID } from 'node:crypto';
import type { ConsumeMessage } from 'amqplib';
import type { Invocation } from '../../../core/contract/index.js';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import { useKept } from '../../support/use.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';
import { needRabbit, RABBITMQ_URL } from './amqp-server.js';
import { type AmqpAnswer, startService } from './amqp-service.js';

/** A timeout that ends when a test says so. */
export function createTimeout(): { readonly signal: AbortSignal; expire(): void } {
  const controller = new AbortController();
  const expire = () => controller.abort(new DOMException('over', 'TimeoutError'));
  return { signal: controller.signal, expire };
}

/** A queue of its own for each test, with what calls it and what answers its calls. */
export function useQueue() {
  let queue: string;
  const keep = useKept();

  before(async function () {
    await needRabbit(this);
  });

  beforeEach(() => {
    queue = `modgate-test.${randomUUID()}`;
  });

  const isConnected = ({ log }: OpenedProvider) =>
    log.some(({ message }) => message === 'connected to RabbitMQ');

  const open = async (config: object = {}) => {
    const running = keep(await openAdapter(amqpAdapter, { url: RABBITMQ_URL, queue, ...config }));
    await eventually(() => isConnected(running));
    return running;
  };

  const serve = async (handle: (message: ConsumeMessage) => AmqpAnswer | null) => {
    return keep(await startService(RABBITMQ_URL, queue, handle));
  };

  const invoke = (
    { provider }: OpenedProvider,
    operation: Parameters<typeof createInvocation>[0] = {},
    others: Partial<Omit<Invocation, 'operation'>> = {},
  ) => provider.invoke(createInvocation(operation, others));

  return { keep, open, serve, invoke, queueName: () => queue };
}
