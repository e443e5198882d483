import { randomUUID } from 'node:crypto';
import type { Channel, ConsumeMessage } from 'amqplib';
import type { ReferenceModule, RunningReference } from '../../../core/testkit/index.js';
import { startFaultProxy } from '../../support/fault-proxy.js';
import { RABBITMQ_PORT, RABBITMQ_URL } from './amqp-server.js';
import { headersOf, respond, startService } from './amqp-service.js';

/** Serves the reference module at the broker of the machine, which the adapter reaches through a proxy. */
export async function startAmqpReference(
  reference: ReferenceModule,
  reply: 'direct' | 'queue',
): Promise<RunningReference> {
  const queue = `modgate-test.${randomUUID()}`;
  const service = await startService(RABBITMQ_URL, queue, (message) => {
    void answer(reference, service.channel, message);
    return null;
  });
  const proxy = await startFaultProxy(RABBITMQ_PORT);
  return {
    config: { url: `amqp://127.0.0.1:${proxy.port}`, queue, reply },
    faults: ['malformed'],
    connections: () => proxy.connections,
    down: () => proxy.set({ kind: 'refuse' }),
    up: () => proxy.set({ kind: 'none' }),
    stop: async () => {
      await service.stop();
      await proxy.stop();
    },
  };
}

async function answer(
  reference: ReferenceModule,
  channel: Channel,
  message: ConsumeMessage,
): Promise<void> {
  const headers = headersOf(message);
  const query = headers['modgate-query'];
  const { status, fault, ...others } = await reference.answer({
    method: headers['modgate-method'] ?? '',
    target: `${headers['modgate-path']}${query === undefined ? '' : `?${query}`}`,
    headers,
    body: message.content.length === 0 ? null : message.content,
  });
  if (fault !== undefined) return respond(channel, message, { status: 'malformed' });
  const { 'content-type': contentType, ...sent } = others.headers;
  respond(channel, message, {
    status,
    headers: sent,
    ...(others.body !== null && { body: others.body }),
    ...(contentType !== undefined && { contentType: String(contentType) }),
  });
}
