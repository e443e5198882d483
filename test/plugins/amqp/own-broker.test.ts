import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { expect } from 'chai';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { DEADLINE_MS, waitUntil } from '../../support/http/wait-until.js';
import { use } from '../../support/use.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';
import { needRabbit, RABBITMQ_URL } from './amqp-server.js';
import { startService } from './amqp-service.js';
import { type OwnBroker, startOwnBroker } from './own-broker.js';

const PASSWORD = 'own-password-71d4';
const SETTINGS = [
  'default_user = modgate',
  `default_pass = ${PASSWORD}`,
  'frame_max = 8192',
  'max_message_size = 100000',
];
const AUTH = { basic: { username: 'modgate', password: 'env:PASSWORD' } };
const SECRETS = { 'env:PASSWORD': PASSWORD };

const isConnected = ({ log }: OpenedProvider) =>
  log.some(({ message }) => message === 'connected to RabbitMQ');

/** Calls the management API. */
function manage({ management }: OwnBroker, path: string, init: RequestInit = {}) {
  const authorization = `Basic ${Buffer.from(`modgate:${PASSWORD}`).toString('base64')}`;
  return fetch(`${management}/api/${path}`, { ...init, headers: { authorization } });
}

describe('amqp adapter', () => {
  let broker: OwnBroker;

  // One broker for all tests: its start takes ten seconds of processor time.
  before(async function () {
    broker = await startOwnBroker(this, SETTINGS);
  });

  after(() => broker?.stop());

  describe('with a broker of its own', () => {
    const service = use(() => {
      const url = broker.url.replace('//', `//modgate:${PASSWORD}@`);
      return startService(url, 'calls', ({ content }) => ({ body: `${content.length}` }));
    });
    const running = use(() => {
      const config = { url: broker.url, queue: 'calls', auth: AUTH };
      return openAdapter(amqpAdapter, config, { secrets: SECRETS });
    });

    before(async () => {
      await eventually(() => isConnected(running));
    });

    const send = (length: number, headers: Record<string, string> = {}) => {
      const operation = { method: 'POST', body: Buffer.alloc(length) } as const;
      return running.provider.invoke(createInvocation(operation, { headers }));
    };

    it('logs in, and splits a body into the negotiated frames', async () => {
      expect(textOf(await send(50_000))).to.equal('50000');
    });

    it('refuses headers over the negotiated frame, and sends nothing', async () => {
      const before = service.received.length;
      const { failure, phase, message } = await failureOf(send(1, { 'x-long': 'x'.repeat(8_192) }));
      expect({ failure, phase }).to.deep.equal({ failure: 'refused', phase: 'connecting' });
      expect(message).to.contain('headers are over 8192 bytes');
      expect(textOf(await send(2, { 'x-long': 'x'.repeat(7_000) }))).to.equal('2');
      expect(service.received).to.have.length(before + 1);
    });

    it('refuses a body over max_message_size of the broker, and opens the channel again', async () => {
      const { failure, phase, message } = await failureOf(send(100_001));
      expect({ failure, phase }).to.deep.equal({ failure: 'refused', phase: 'connecting' });
      expect(message).to.contain('larger than configured max size');
      expect(textOf(await send(3))).to.equal('3');
    });

    it('names its connection after the module and the host', async () => {
      const readNames = async () => {
        const response = await manage(broker, 'connections');
        const connections = (await response.json()) as {
          readonly client_properties?: { readonly connection_name?: string };
        }[];
        return connections.map(({ client_properties }) => client_properties?.connection_name);
      };
      // The API has figures of the last seconds.
      const isNamed = async () => (await readNames()).includes(`modgate:crm@${hostname()}`);
      await waitUntil('the connection has its name', isNamed);
    });
  });

  describe('with a broker that accepts no messages', () => {
    const opened: OpenedProvider[] = [];

    before(async () => {
      // The user of the broker of the machine, to which an adapter moves.
      for (const [path, body] of [
        ['users/guest', { password: 'guest', tags: '' }],
        ['permissions/%2F/guest', { configure: '.*', write: '.*', read: '.*' }],
      ] as const) {
        const { ok } = await manage(broker, path, { method: 'PUT', body: JSON.stringify(body) });
        expect(ok, path).to.equal(true);
      }
      broker.raiseAlarm();
    });

    after(async () => {
      for (const running of opened) await running.close();
    });

    const open = async (config: object) => {
      const running = await openAdapter(amqpAdapter, { queue: 'calls', ...config });
      opened.push(running);
      await eventually(() => isConnected(running));
      return running;
    };

    it('fails calls as unavailable at once, and says so in its facts', async () => {
      const running = await open({ url: broker.url });
      const invoke = () =>
        running.provider.invoke(createInvocation({}, { signal: AbortSignal.timeout(DEADLINE_MS) }));
      // The broker blocks a connection at its first message.
      await failureOf(invoke());
      await eventually(() =>
        running.log.some(({ message }) => message === 'RabbitMQ does not accept messages'),
      );
      const { failure, phase, message } = await failureOf(invoke());
      expect({ failure, phase }).to.deep.equal({ failure: 'unavailable', phase: 'connecting' });
      expect(message).to.match(/the broker does not accept messages: .*disk/);
      expect(running.provider.facts?.()).to.deep.equal([
        { name: 'broker', value: message.replace('the broker ', ''), problem: true },
      ]);
    });

    it('moves to the next broker when it stops', async function () {
      await needRabbit(this);
      const queue = `modgate-test.${randomUUID()}`;
      const service = await startService(RABBITMQ_URL, queue, () => ({ body: '1' }));
      const running = await open({ urls: [broker.url, RABBITMQ_URL], queue });
      const readBroker = () => running.provider.facts?.()[0]?.value ?? '';
      expect(readBroker()).to.equal(`connected to ${new URL(broker.url).host}`);
      await broker.stop();
      const isOther = () => readBroker() === `connected to ${new URL(RABBITMQ_URL).host}`;
      await eventually(isOther);
      expect(textOf(await running.provider.invoke(createInvocation()))).to.equal('1');
      await service.stop();
    });
  });
});
