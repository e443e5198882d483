import type { AMQPChannel } from '@cloudamqp/amqp-client';
import type { BrokerConnection } from './broker-connection.js';

const INTERVAL_MS = 1_000;

/** Where requests go: a queue, or an exchange. */
export interface Target {
  readonly exchange: string;
  readonly routingKey: string;
  /** The queue of requests, if it is known. */
  readonly queue: string | null;
}

/** Looks at the target of one connection, on a channel of its own: a look at a missing target closes it. */
export class TargetWatch {
  readonly #connection: BrokerConnection;
  readonly #target: Target;
  #channel: Promise<AMQPChannel> | null = null;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #consumers: number | null = null;

  constructor(connection: BrokerConnection, target: Target) {
    this.#connection = connection;
    this.#target = target;
  }

  /** Whether the queue had no consumer when it was last looked at. */
  get hasNoConsumer(): boolean {
    return this.#consumers === 0;
  }

  /** @throws Error for a target that does not exist. */
  async look(): Promise<void> {
    const { queue, exchange } = this.#target;
    this.#channel ??= this.#connection.channel();
    try {
      const channel = await this.#channel;
      channel.onerror = () => {};
      if (queue === null) return await channel.exchangeDeclare(exchange, '', { passive: true });
      const { consumerCount } = await channel.queueDeclare(queue, { passive: true });
      this.#consumers = consumerCount;
    } catch (error) {
      this.#channel = null;
      this.#consumers = null;
      throw error;
    }
  }

  /** Counts the consumers of the queue, at most once in a second, so that a timeout can say that there are none. */
  count(): void {
    const now = performance.now();
    if (this.#target.queue === null || this.#isLooking || now - this.#lookedAt < INTERVAL_MS)
      return;
    this.#lookedAt = now;
    this.#isLooking = true;
    const done = () => {
      this.#isLooking = false;
    };
    // Calls report a queue that is gone.
    void this.look().then(done, done);
  }
}
