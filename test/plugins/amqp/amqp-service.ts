import { type Channel, type ChannelModel, type ConsumeMessage, connect } from 'amqplib';
import { RABBITMQ_URL } from './amqp-server.js';

export interface AmqpAnswer {
  /** The header `modgate-status`; absent without it. */
  readonly status?: unknown;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  /** Default: that of the request. */
  readonly correlationId?: string;
}

export interface AmqpService {
  readonly connection: ChannelModel;
  readonly channel: Channel;
  readonly queue: string;
  readonly received: ConsumeMessage[];
  stop(): Promise<void>;
}

/** A provider for tests, by another client library. `handle` returns `null` to send no response. */
export async function startService(
  url: string,
  queue: string,
  handle: (message: ConsumeMessage) => AmqpAnswer | null,
  tls: object = {},
): Promise<AmqpService> {
  const connection = await connect(url, tls);
  connection.on('error', () => {});
  const channel = await connection.createChannel();
  channel.on('error', () => {});
  await channel.assertQueue(queue, { durable: false, autoDelete: true });
  const received: ConsumeMessage[] = [];
  await channel.consume(
    queue,
    (message) => {
      if (message === null) return;
      received.push(message);
      const answer = handle(message);
      if (answer !== null) respond(channel, message, answer);
    },
    { noAck: true },
  );
  return { connection, channel, queue, received, stop: () => connection.close().catch(() => {}) };
}

export function respond(
  channel: Channel,
  { properties }: ConsumeMessage,
  { status, headers = {}, body = '', ...others }: AmqpAnswer,
): void {
  const { contentType, contentEncoding, correlationId = properties.correlationId } = others;
  channel.sendToQueue(properties.replyTo, Buffer.from(body as string), {
    correlationId,
    headers: { ...headers, ...(status !== undefined && { 'modgate-status': status }) },
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
  });
}

/** The headers of a request, with its content type. */
export function headersOf({ properties }: ConsumeMessage): Record<string, string> {
  const { headers, contentType } = properties as {
    readonly headers: Record<string, string>;
    readonly contentType?: string;
  };
  return { ...headers, ...(contentType !== undefined && { 'content-type': contentType }) };
}

/** Whether a queue exists and has a consumer. */
export async function hasConsumer(queue: string): Promise<boolean> {
  const connection = await connect(RABBITMQ_URL);
  try {
    const channel = await connection.createChannel();
    channel.on('error', () => {});
    return (await channel.checkQueue(queue)).consumerCount > 0;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
