import { randomUUID } from 'node:crypto';
import { type Channel, type ConsumeMessage, connect } from 'amqplib';
import { expect } from 'chai';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import { createInvocation, eventually, openAdapter } from '../open-adapter.js';
import { needRabbit, RABBITMQ_URL } from './amqp-server.js';
import { respond, startService } from './amqp-service.js';

/** Calls a queue; the answer as text. */
interface Client {
  call(): Promise<string>;
  close(): Promise<void>;
}

interface Attack {
  readonly title: string;
  /** Answers to calls of others, or before the provider. @param earlier the request of another call */
  readonly spoof: (channel: Channel, message: ConsumeMessage, earlier: ConsumeMessage) => void;
}

const SPOOFED = '"spoofed"';

const spoofWith =
  (correlationOf: (message: ConsumeMessage, earlier: ConsumeMessage) => string): Attack['spoof'] =>
  (channel, message, earlier) =>
    respond(channel, message, { correlationId: correlationOf(message, earlier), body: SPOOFED });

const ATTACKS: readonly Attack[] = [
  { title: 'an answer without an id', spoof: spoofWith(() => '') },
  { title: 'an answer with the next number', spoof: spoofWith(() => '2') },
  {
    title: 'an answer with the id of an earlier call',
    spoof: spoofWith((_, { properties }) => properties.correlationId),
  },
  {
    title: 'an answer with a part of the id',
    spoof: spoofWith(({ properties }) => properties.correlationId.slice(0, -1)),
  },
  {
    title: 'an answer with the name of a member of every object',
    spoof: spoofWith(() => 'constructor'),
  },
];

describe('spoofed answers over AMQP', () => {
  let queue: string;

  before(async function () {
    await needRabbit(this);
  });

  beforeEach(() => {
    queue = `modgate-test.${randomUUID()}`;
  });

  const openAdapterClient = async (): Promise<Client> => {
    const running = await openAdapter(amqpAdapter, { url: RABBITMQ_URL, queue });
    return {
      call: async () => textOf(await running.provider.invoke(createInvocation())),
      close: running.close,
    };
  };

  /** Takes the next answer for that of its call, as clients in tutorials do. */
  const openNaiveClient = async (): Promise<Client> => {
    const connection = await connect(RABBITMQ_URL);
    const channel = await connection.createChannel();
    let count = 0;
    let settle: (body: string) => void = () => {};
    const replyTo = 'amq.rabbitmq.reply-to';
    const take = (message: ConsumeMessage | null) => settle(`${message?.content}`);
    await channel.consume(replyTo, take, { noAck: true });
    return {
      call: () => {
        count += 1;
        const correlationId = String(count);
        channel.sendToQueue(queue, Buffer.alloc(0), { replyTo, correlationId });
        return new Promise((resolve) => {
          settle = resolve;
        });
      },
      close: () => connection.close(),
    };
  };

  /** The answer of a call whose reply address an attacker knows, who answers first. */
  const attack = async (openClient: () => Promise<Client>, { spoof }: Attack) => {
    const received: ConsumeMessage[] = [];
    const service = await startService(RABBITMQ_URL, queue, (message) => {
      received.push(message);
      const [earlier = message] = received;
      if (received.length > 1) spoof(service.channel, message, earlier);
      return { body: '"own"' };
    });
    const client = await openClient();
    try {
      expect(await client.call()).to.equal('"own"');
      await eventually(() => received.length === 1);
      return await client.call();
    } finally {
      await client.close();
      await service.stop();
    }
  };

  for (const each of ATTACKS) {
    it(`do not reach a call: ${each.title}`, async () => {
      expect(await attack(openAdapterClient, each)).to.equal('"own"');
    });

    it(`reach a call of a naive client: ${each.title}`, async () => {
      expect(await attack(openNaiveClient, each)).to.equal(SPOOFED);
    });
  }
});
