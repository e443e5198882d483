import { once } from 'node:events';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import type { ConsumeMessage } from 'amqplib';
import { expect } from 'chai';
import { ProviderFailure, type ProviderOperation } from '../../../core/contract/index.js';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { failureOf } from '../../support/failure-of.js';
import { eventually } from '../open-adapter.js';
import { RABBITMQ_PORT, RABBITMQ_URL } from './amqp-server.js';
import { headersOf, respond, startService } from './amqp-service.js';
import { createTimeout, useQueue } from './use-queue.js';

const LATE_ANSWERS = 'late_answers_total';
const BODY = '{"id": 12345678901234567890}';

describe('amqp adapter', () => {
  const { keep, open, serve, invoke, queueName } = useQueue();

  describe('requests', () => {
    it('are messages with the headers of kind nats, and answers have what was sent', async () => {
      const service = await serve(() => ({
        status: 201,
        contentType: 'application/json',
        headers: { 'X-A': '1' },
        body: '{"n":1.10}',
      }));
      const provider = await open();
      const operation = {
        method: 'POST',
        declaredPath: '/contacts/{id}',
        target: '/contacts/a%20b?x=%2F&y',
        body: Buffer.from(BODY),
      } as const;
      const headers = {
        'content-type': 'application/json',
        'modgate-deadline-ms': '5000',
        'modgate-call-id': 'call_7',
      };
      const before = Date.now();
      const outcome = await invoke(provider, operation, { id: 'call_7', headers });
      expect({ ...outcome, body: textOf(outcome) }).to.deep.equal({
        status: 201,
        headers: { 'content-type': 'application/json', 'x-a': '1' },
        body: '{"n":1.10}',
      });
      const [message] = service.received;
      if (message === undefined) throw new Error('the service got no message');
      const { 'modgate-sent-at': sentAt, ...others } = headersOf(message);
      expect(others).to.deep.equal({
        ...headers,
        'modgate-method': 'POST',
        'modgate-declared-path': '/contacts/{id}',
        'modgate-path': '/contacts/a%20b',
        'modgate-query': 'x=%2F&y',
      });
      expect(Number(sentAt)).to.be.within(before, Date.now());
      expect(message.content.toString()).to.equal(BODY);
      const { properties } = message;
      expect(properties.messageId).to.equal('call_7');
      expect(properties.expiration).to.equal('5000');
      expect(properties.correlationId).to.match(/^[0-9a-f]{32}$/);
      expect(properties.replyTo).to.match(/^amq\.rabbitmq\.reply-to\./);
      expect(properties.deliveryMode ?? 1).to.equal(1);
    });

    it('distinguish an empty query from none', async () => {
      const service = await serve(() => ({}));
      const provider = await open();
      for (const target of ['/a', '/a?']) await invoke(provider, { target });
      const queries = service.received.map((message) => headersOf(message)['modgate-query']);
      expect(queries).to.deep.equal([undefined, '']);
    });

    it('go to an exchange with a routing key', async () => {
      const exchange = `${queueName()}.exchange`;
      const service = await serve(() => ({ body: '1' }));
      await service.channel.assertExchange(exchange, 'direct', {
        durable: false,
        autoDelete: true,
      });
      await service.channel.bindQueue(queueName(), exchange, 'calls');
      const provider = await open({ queue: undefined, exchange, routing_key: 'calls' });
      expect(textOf(await invoke(provider))).to.equal('1');
      expect(service.received[0]?.fields).to.include({ exchange, routingKey: 'calls' });
    });

    it('spread over the consumers of the queue', async () => {
      const [first, other] = [await serve(() => ({})), await serve(() => ({}))];
      const provider = await open();
      await Promise.all(Array.from({ length: 20 }, () => invoke(provider)));
      expect(first.received).to.have.length(10);
      expect(other.received).to.have.length(10);
    });

    it('wait for room while more is sent than the broker reads at once', async () => {
      await serve(({ content }) => ({ body: `${content.length}` }));
      const provider = await open();
      const body = Buffer.alloc(1_048_576);
      const calls = Array.from({ length: 20 }, () => invoke(provider, { method: 'POST', body }));
      const answers = await Promise.all(calls);
      expect(new Set(answers.map(textOf))).to.deep.equal(new Set([`${body.length}`]));
    });

    const OPERATIONS: readonly ProviderOperation[] = [
      { kind: 'admin_list', entity: 'notes', path: null, limit: 5, cursor: null },
      { kind: 'configure', path: null, revision: 3, values: {} },
    ];
    for (const operation of OPERATIONS) {
      it(`do not carry ${operation.kind}`, async () => {
        expect((await failureOf(invoke(await open(), operation))).failure).to.equal('refused');
      });
    }
  });

  describe('what cannot be sent is refused, and the next call is not affected:', () => {
    const TOO_LONG: readonly [title: string, operation: object, headers: Record<string, string>][] =
      [
        ['a body over max_message_bytes', { method: 'POST', body: Buffer.alloc(1_001) }, {}],
        ['headers over the negotiated frame', {}, { 'x-long': 'x'.repeat(131_072) }],
        ['a content type over 255 bytes', {}, { 'content-type': `a/${'b'.repeat(254)}` }],
      ];
    for (const [title, operation, headers] of TOO_LONG) {
      it(title, async () => {
        const service = await serve(() => ({ body: '1' }));
        const provider = await open({ max_message_bytes: 1_000 });
        const { failure, phase } = await failureOf(invoke(provider, operation, { headers }));
        expect({ failure, phase }).to.deep.equal({ failure: 'refused', phase: 'connecting' });
        const body = Buffer.alloc(1_000);
        expect(textOf(await invoke(provider, { method: 'POST', body }))).to.equal('1');
        expect(service.received).to.have.length(1);
      });
    }

    it('a body in parts over max_message_bytes', async () => {
      const service = await serve(() => ({ body: '1' }));
      const provider = await open({ max_message_bytes: 1_000 });
      async function* bodyStream() {
        yield Buffer.alloc(600);
        yield Buffer.alloc(600);
      }
      const operation = { method: 'POST', body: null, bodyStream: bodyStream() } as const;
      expect((await failureOf(invoke(provider, operation))).failure).to.equal('refused');
      await invoke(provider);
      expect(service.received).to.have.length(1);
    });
  });

  it('holds the parts of a body in the memory budget of their caller', async () => {
    const service = await serve(() => ({}));
    const provider = await open();
    const held: number[] = [];
    const hold = (bytes: number) => {
      held.push(bytes);
      if (held.length > 2) throw new ProviderFailure('overloaded', 'over the budget');
      return () => {};
    };
    async function* bodyStream() {
      for (const length of [100, 200, 300]) yield Buffer.alloc(length);
    }
    const operation = { method: 'POST', body: null, bodyStream: bodyStream() } as const;
    const { message } = await failureOf(invoke(provider, operation, { hold }));
    expect(message).to.equal('over the budget');
    expect(held).to.deep.equal([100, 200, 300]);
    await invoke(provider);
    expect(service.received).to.have.length(1);
  });

  describe('statuses', () => {
    const GOOD: readonly [title: string, status: unknown, expected: number][] = [
      ['none', undefined, 200],
      ['text', '404', 404],
      ['bytes', Buffer.from('503'), 503],
      ['an integer', 599, 599],
    ];
    for (const [title, status, expected] of GOOD) {
      it(`may be ${title}`, async () => {
        await serve(() => ({ status }));
        expect((await invoke(await open())).status).to.equal(expected);
      });
    }

    const BAD: readonly unknown[] = ['', ' 200', '200 ', '199', '600', '2e2', '0200', 199, 200.5];
    for (const status of [...BAD, true, null, ['200'], { a: 1 }, Buffer.from('20')]) {
      it(`may not be ${JSON.stringify(status)}`, async () => {
        await serve(() => ({ status }));
        const { failure, phase } = await failureOf(invoke(await open()));
        expect({ failure, phase }).to.deep.equal({ failure: 'protocol', phase: 'answered' });
      });
    }
  });

  describe('answers', () => {
    const ENCODINGS: readonly [sent: string, seen: string | undefined][] = [
      ['utf-8', undefined],
      ['UTF8', undefined],
      ['identity', undefined],
      ['gzip', 'gzip'],
    ];
    for (const [contentEncoding, seen] of ENCODINGS) {
      it(`have the encoding ${seen ?? 'none'} for ${contentEncoding}`, async () => {
        await serve(() => ({ contentEncoding, body: '1' }));
        expect((await invoke(await open())).headers['content-encoding']).to.equal(seen);
      });
    }

    it('without a type are JSON, on routes of bytes octets', async () => {
      await serve(() => ({ body: '1' }));
      const running = await open();
      const route = { method: 'GET', path: '/file', capability: 'crm.read' } as const;
      running.provider.useRoutes?.([{ declared: { ...route, operation: { response: 'bytes' } } }]);
      const typeOf = async (declaredPath: string) =>
        (await invoke(running, { declaredPath, target: declaredPath })).headers['content-type'];
      expect(await typeOf('/file')).to.equal('application/octet-stream');
      expect(await typeOf('/contacts')).to.equal('application/json');
    });

    it('have texts, numbers and lists of them as headers, and no tables', async () => {
      const headers = { 'X-List': ['a', 'b'], 'x-number': 7, 'x-table': { a: 1 }, 'x y': 'b' };
      await serve(() => ({ headers }));
      const answer = await invoke(await open());
      expect({ ...answer.headers }).to.deep.equal({ 'x-list': 'a, b', 'x-number': '7' });
    });

    it('have integers of any type as headers', async () => {
      // Other client libraries send a type that this one does not write.
      const relay = createServer((socket) => {
        const broker = connectTcp(RABBITMQ_PORT, '127.0.0.1');
        socket.on('data', (chunk: Buffer) => broker.write(writeUnsignedLong(chunk, 'x-count', 7n)));
        broker.on('data', (chunk) => socket.write(chunk));
        broker.on('close', () => socket.destroy()).on('error', () => {});
        socket.on('close', () => broker.destroy()).on('error', () => {});
      });
      keep(relay);
      relay.listen(0, '127.0.0.1');
      await once(relay, 'listening');
      const url = new URL(RABBITMQ_URL);
      url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
      const headers = { 'x-count': 'text', 'x-short': { '!': 'uint16', value: 8 }, 'x-last': 'y' };
      keep(await startService(url.href, queueName(), () => ({ headers, body: '1' })));
      const answer = await invoke(await open());
      expect({ ...answer.headers }).to.deep.include({
        'x-count': '7',
        'x-short': '8',
        'x-last': 'y',
      });
    });

    it('with a control character in a header are malformed', async () => {
      await serve(() => ({ headers: { 'x-a': 'b\r\nx-c: d' } }));
      expect((await failureOf(invoke(await open()))).failure).to.equal('protocol');
    });

    for (const reply of ['direct', 'queue'] as const) {
      it(`that are too long do not affect the next one (${reply})`, async () => {
        const long = Buffer.alloc(8 * 1_048_576);
        await serve(({ content }) => ({ body: content.length > 0 ? long : '1' }));
        const provider = await open({ reply });
        const call = invoke(provider, { method: 'POST', body: Buffer.from('1') });
        const { failure, phase, status } = await failureOf(call);
        const expected = { failure: 'protocol', phase: 'answered', status: 200 };
        expect({ failure, phase, status }).to.deep.equal(expected);
        expect(textOf(await invoke(provider))).to.equal('1');
      });
    }
  });

  describe('answers that no call waits for are dropped and counted:', () => {
    const IDS: readonly [title: string, id: string][] = [
      ['another id', '0'.repeat(32)],
      ['__proto__', '__proto__'],
      ['no id', ''],
      ['the longest id', 'x'.repeat(255)],
    ];
    for (const reply of ['direct', 'queue'] as const) {
      for (const [title, correlationId] of IDS) {
        it(`${title} (${reply})`, async () => {
          const service = await serve((message) => {
            respond(service.channel, message, { correlationId, body: '"spoofed"' });
            return { body: '"own"' };
          });
          const running = await open({ reply });
          expect(textOf(await invoke(running))).to.equal('"own"');
          expect(running.counted(LATE_ANSWERS)).to.equal(1);
        });
      }
    }

    it('a second answer', async () => {
      const service = await serve((message) => {
        for (const body of ['1', '2']) respond(service.channel, message, { body });
        return null;
      });
      const running = await open();
      expect(textOf(await invoke(running))).to.equal('1');
      await eventually(() => running.counted(LATE_ANSWERS) === 1);
    });

    it('the answer of a call that timed out', async () => {
      const held: ConsumeMessage[] = [];
      const service = await serve((message) => {
        held.push(message);
        return null;
      });
      const running = await open();
      const { signal, expire } = createTimeout();
      const call = failureOf(invoke(running, {}, { signal }));
      await eventually(() => held.length === 1);
      expire();
      expect((await call).failure).to.equal('timeout');
      for (const message of held) respond(service.channel, message, {});
      await eventually(() => running.counted(LATE_ANSWERS) === 1);
    });

    it('the answer of another call, which gets its own', async () => {
      const asked: ConsumeMessage[] = [];
      const service = await serve((message) => {
        asked.push(message);
        if (asked.length < 2) return null;
        const [first, second] = asked as [ConsumeMessage, ConsumeMessage];
        // An answer goes to the call of its id, whatever else it says.
        respond(service.channel, second, {
          correlationId: first.properties.correlationId,
          body: '1',
        });
        respond(service.channel, first, {
          correlationId: second.properties.correlationId,
          body: '2',
        });
        return null;
      });
      const running = await open();
      const answers = await Promise.all([invoke(running), invoke(running)]);
      expect(answers.map(textOf)).to.deep.equal(['1', '2']);
    });
  });
});

/** Replaces the value of a header, a text of four bytes, by an integer of the type `L`. */
function writeUnsignedLong(chunk: Buffer, name: string, value: bigint): Buffer {
  const at = chunk.indexOf(`${name}S`);
  if (at === -1) return chunk;
  const written = Buffer.from(chunk);
  const typeAt = at + name.length;
  written.write('L', typeAt, 'latin1');
  written.writeBigUInt64BE(value, typeAt + 1);
  return written;
}
