import { randomBytes } from 'node:crypto';
import type { AMQPChannel, AMQPMessage } from '@cloudamqp/amqp-client';
import type { BrokerConnection } from './broker-connection.js';

const DIRECT_REPLY_TO = 'amq.rabbitmq.reply-to';
/** Answers that the broker sends ahead to an exclusive queue. */
const PREFETCH = 100;
/** 128 random bits, so that nobody can answer for another. */
const CORRELATION_BYTES = 16;
/** Ended by the broker without a reply code of its own: that of a close in order. */
const CANCELLED = 200;

export interface SessionEvents {
  answered(message: AMQPMessage): void;
  returned(message: AMQPMessage): void;
  /** Called once: the channel or the consumer of answers was lost. */
  ended(session: Session, reason: string): void;
}

/** A channel that confirms messages, with the consumer of their answers. */
export class Session {
  readonly channel: AMQPChannel;
  readonly connection: BrokerConnection;
  readonly replyTo: string;
  /** Messages that the broker has not confirmed: their correlation ids by tag. */
  readonly unconfirmed = new Map<number, string>();
  /** Resolves with the reason when the channel or the consumer of answers was lost. */
  readonly ended: Promise<string>;
  hasConfirmed = false;
  #published = 0;

  private constructor(
    connection: BrokerConnection,
    channel: AMQPChannel,
    replyTo: string,
    ended: Promise<string>,
  ) {
    this.connection = connection;
    this.ended = ended;
    this.channel = channel;
    this.replyTo = replyTo;
  }

  /** @throws Error when the broker does not allow it. */
  static async open(
    connection: BrokerConnection,
    reply: 'direct' | 'queue',
    events: SessionEvents,
  ): Promise<Session> {
    const channel = await connection.channel();
    let session: Session | null = null;
    let resolveEnd: (reason: string) => void = () => {};
    const ended = new Promise<string>((resolve) => {
      resolveEnd = resolve;
    });
    const end = (reason: string) => {
      resolveEnd(reason);
      if (session !== null) events.ended(session, reason);
    };
    channel.onerror = end;
    channel.onReturn = (message) => events.returned(message);
    await channel.confirmSelect();
    const isDirect = reply === 'direct';
    if (!isDirect) await channel.basicQos(PREFETCH);
    const queue = isDirect ? DIRECT_REPLY_TO : (await channel.queueDeclare('')).name;
    const consumer = await channel.basicConsume(queue, { noAck: isDirect }, (message) => {
      if (!isDirect) void channel.basicAck(message.deliveryTag).catch(() => {});
      events.answered(message);
    });
    session = new Session(connection, channel, queue, ended);
    consumer.wait().catch(() => {
      // It ends with its channel too.
      if (channel.closed) return;
      end(`channel ${channel.id} closed: the consumer of answers was cancelled (${CANCELLED})`);
      void channel.close().catch(() => {});
    });
    return session;
  }

  createCorrelationId(): string {
    return randomBytes(CORRELATION_BYTES).toString('hex');
  }

  /** Counts a message that is sent next. */
  expectConfirm(correlationId: string): void {
    this.#published += 1;
    this.unconfirmed.set(this.#published, correlationId);
  }

  /** Removes the confirmed messages. @returns their correlation ids */
  takeConfirmed(tag: number, upTo: boolean): string[] {
    if (!upTo) {
      const id = this.unconfirmed.get(tag);
      this.unconfirmed.delete(tag);
      return id === undefined ? [] : [id];
    }
    const ids: string[] = [];
    for (const [each, id] of this.unconfirmed) {
      // In the order of their tags.
      if (each > tag) break;
      this.unconfirmed.delete(each);
      ids.push(id);
    }
    return ids;
  }
}
