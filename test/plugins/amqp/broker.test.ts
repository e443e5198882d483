import { connect } from 'amqplib';
import { expect } from 'chai';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { startFaultProxy } from '../../support/fault-proxy.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { eventually, openAdapter } from '../open-adapter.js';
import { RABBITMQ_PORT, RABBITMQ_URL } from './amqp-server.js';
import { createTimeout, useQueue } from './use-queue.js';

describe('amqp adapter and its broker', () => {
  const { keep, open, serve, invoke, queueName } = useQueue();

  describe('what the broker does not accept', () => {
    const expectNotQueued = async (call: Promise<unknown>, reason: RegExp) => {
      const { failure, phase, message } = await failureOf(call);
      expect({ failure, phase }).to.deep.equal({ failure: 'unavailable', phase: 'connecting' });
      expect(message).to.match(reason);
    };

    it('is unavailable at once without a queue', async () => {
      const provider = await open();
      await expectNotQueued(invoke(provider), /no queue takes the message: NO_ROUTE/);
      await serve(() => ({ body: '1' }));
      expect(textOf(await invoke(provider))).to.equal('1');
    });

    it('is unavailable at once without an exchange, and the channel is opened again', async () => {
      const exchange = `${queueName()}.exchange`;
      const running = await open({ queue: undefined, exchange });
      for (let round = 0; round < 3; round += 1) {
        await expectNotQueued(invoke(running), /no channel: NOT_FOUND - no exchange/);
      }
      expect(running.log.filter(({ message }) => message === 'AMQP channel lost')).to.have.length(
        1,
      );
      const service = await serve(() => ({ body: '1' }));
      await service.channel.assertExchange(exchange, 'fanout', {
        durable: false,
        autoDelete: true,
      });
      await service.channel.bindQueue(queueName(), exchange, '');
      const isBack = () =>
        invoke(running).then(
          () => true,
          () => false,
        );
      await waitUntil('the calls succeed', isBack);
      expect(
        running.log.filter(({ message }) => message === 'connected to RabbitMQ'),
      ).to.have.length(1);
    });

    it('is unavailable when the broker rejects it', async () => {
      const connection = await connect(RABBITMQ_URL);
      const channel = await connection.createChannel();
      const args = { 'x-max-length': 1, 'x-overflow': 'reject-publish' };
      await channel.assertQueue(queueName(), { durable: false, exclusive: false, arguments: args });
      const provider = await open();
      const { signal, expire } = createTimeout();
      const waiting = failureOf(invoke(provider, {}, { signal }));
      const isQueued = async () => (await channel.checkQueue(queueName())).messageCount === 1;
      await waitUntil('the message is queued', isQueued);
      await expectNotQueued(invoke(provider), /the broker rejected the message/);
      expire();
      expect((await waiting).failure).to.equal('timeout');
      await channel.deleteQueue(queueName());
      await connection.close();
    });

    it('says in the detail of a timeout, and in the facts, that the queue has no consumer', async () => {
      const service = await serve(() => ({}));
      const idle = `${queueName()}.idle`;
      await service.channel.assertQueue(idle, { durable: false });
      const running = await open({ queue: idle });
      const signal = AbortSignal.timeout(2_000);
      const { failure, detail } = await failureOf(invoke(running, {}, { signal }));
      expect(failure).to.equal('timeout');
      expect(detail).to.contain(`the queue ${idle} has no consumer`);
      expect(running.provider.facts?.().at(-1)).to.deep.equal({
        name: 'queue',
        value: 'has no consumer',
        problem: true,
      });
      await service.channel.deleteQueue(idle);
    });
  });

  describe('connections', () => {
    const openThroughProxy = async (config: object = {}) => {
      const proxy = keep(await startFaultProxy(RABBITMQ_PORT));
      return { proxy, running: await open({ url: `amqp://127.0.0.1:${proxy.port}`, ...config }) };
    };

    for (const reply of ['direct', 'queue'] as const) {
      it(`fail calls in flight when they are lost, and are opened again (${reply})`, async () => {
        const service = await serve(({ content }) => (content.length > 0 ? null : { body: '1' }));
        const { proxy, running } = await openThroughProxy({ reply });
        const call = invoke(running, { method: 'POST', body: Buffer.from('1') });
        call.catch(() => {});
        await eventually(() => service.received.length === 1);
        await proxy.set({ kind: 'refuse' });
        const { failure, phase } = await failureOf(call);
        expect({ failure, phase }).to.deep.equal({ failure: 'unavailable', phase: 'responding' });
        const next = await failureOf(invoke(running));
        expect(next.phase).to.equal('connecting');
        expect(running.provider.facts?.()[0]).to.include({ name: 'broker', problem: true });
        await proxy.set({ kind: 'none' });
        const isBack = () =>
          invoke(running).then(
            () => true,
            () => false,
          );
        await waitUntil('the calls succeed', isBack);
        // Nothing of the calls that failed was sent later.
        expect(service.received.filter(({ content }) => content.length > 0)).to.have.length(1);
        expect(running.provider.facts?.()[0]?.value).to.match(/^connected to 127\.0\.0\.1:/);
      });
    }

    it('try the brokers of urls in turn', async () => {
      await serve(() => ({ body: '1' }));
      const dead = keep(await startFaultProxy(RABBITMQ_PORT));
      await dead.set({ kind: 'refuse' });
      const urls = [`amqp://127.0.0.1:${dead.port}`, `amqp://localhost:${RABBITMQ_PORT}`];
      const running = await open({ url: undefined, urls });
      expect(textOf(await invoke(running))).to.equal('1');
    });

    it('do not wait for the broker when they are closed', async () => {
      const { proxy, running } = await openThroughProxy();
      await proxy.set({ kind: 'blackhole' });
      await running.close();
    });

    const REFUSED: readonly [title: string, config: object, text: RegExp][] = [
      [
        'a wrong password',
        { auth: { basic: { username: 'guest', password: 'env:P' } } },
        /ACCESS_REFUSED - Login was refused/,
      ],
      ['an unknown virtual host', { url: `${RABBITMQ_URL}/none` }, /vhost none not found/],
    ];
    for (const [title, config, text] of REFUSED) {
      it(`fail as refused for ${title}, with the text of the broker`, async () => {
        const secrets = { 'env:P': 'another-password-9f2c' };
        const settings = { url: RABBITMQ_URL, queue: queueName(), ...config };
        const running = keep(await openAdapter(amqpAdapter, settings, { secrets }));
        const { failure, phase, message } = await failureOf(invoke(running));
        expect({ failure, phase }).to.deep.equal({ failure: 'refused', phase: 'connecting' });
        expect(message).to.match(text);
        expect(running.provider.facts?.()[0]?.value).to.match(text);
        const output = JSON.stringify([running.entries, running.provider.facts?.(), message]);
        expect(output).not.to.contain(secrets['env:P']);
      });
    }
  });
});
