import { randomUUID } from 'node:crypto';
import type { ConsumeMessage } from 'amqplib';
import { expect } from 'chai';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { started } from '../../support/started.js';
import { needRabbit, RABBITMQ_PORT, RABBITMQ_URL } from './amqp-server.js';
import { type AmqpAnswer, type AmqpService, respond, startService } from './amqp-service.js';

const TOKEN = 'Bearer dev-service:test:orders.use';
const OPERATOR = 'Bearer dev-system:operator';
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]);

const ROUTES = [
  { method: 'GET', path: '/orders/{id}' },
  { method: 'PUT', path: '/orders/{id}' },
  { method: 'POST', path: '/orders' },
  { method: 'GET', path: '/pictures/{id}', operation: { response: 'bytes' } },
  { method: 'PUT', path: '/pictures/{id}', operation: { body: 'bytes' } },
].map((route) => ({ ...route, capability: 'orders.use' }));
const TIMEOUT_MS = 3_000;

const describeModule = (module: string, queue: string, others: object = {}) => ({
  apiVersion: 'modgate/v1',
  module,
  provider: { kind: 'amqp', config: { url: RABBITMQ_URL, queue } },
  manifest: {
    inline: {
      protocol: 'modgate.manifest.v1',
      module_id: module,
      capabilities: ['orders.use'],
      http_routes: ROUTES,
    },
  },
  limits: { timeout_ms: TIMEOUT_MS },
  ...others,
});

describe('a module of kind amqp', () => {
  const queue = `modgate-test.${randomUUID()}`;
  let handle: (message: ConsumeMessage) => AmqpAnswer | null = () => ({});
  let service: AmqpService | undefined;
  let proxy: FaultProxy | undefined;
  let host: RunningHost | undefined;

  before(async function () {
    await needRabbit(this);
    service = await startService(RABBITMQ_URL, queue, (message) => handle(message));
    proxy = await startFaultProxy(RABBITMQ_PORT);
    const flaky = describeModule('flaky', queue);
    host = await startHost({
      files: {
        'orders.yaml': describeModule('orders', queue, { provider_errors: 'passthrough' }),
        'flaky.yaml': {
          ...flaky,
          provider: { kind: 'amqp', config: { url: `amqp://127.0.0.1:${proxy.port}`, queue } },
        },
        'nowhere.yaml': describeModule('nowhere', `${queue}.none`),
        'asking.yaml': { ...describeModule('asking', queue), manifest: { from: 'provider' } },
        'checked.yaml': {
          ...describeModule('checked', queue),
          provider: { kind: 'amqp', config: { url: RABBITMQ_URL, queue, health: {} } },
        },
      },
    });
  });
  after(() => Promise.all([host?.stop(), service?.stop(), proxy?.stop()]));

  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${started(host).url}/modules/${path}`, {
      ...init,
      headers: { authorization: TOKEN, ...(init.headers as object) },
    });
  const ask = async (path: string) => {
    const headers = { authorization: OPERATOR };
    return (await fetch(`${started(host).url}${path}`, { headers })).text();
  };

  const failureIn = async (response: Response) => {
    const { errors } = (await response.json()) as {
      readonly errors: readonly { readonly field: string; readonly reason: string }[];
    };
    return errors.find(({ field }) => field === 'failure')?.reason;
  };

  it('answers JSON in the envelope', async () => {
    handle = ({ properties }) => ({ body: JSON.stringify(properties.headers?.['modgate-actor']) });
    const response = await call('orders/http/orders/7');
    expect(response.status).to.equal(200);
    expect(await response.json()).to.include({ status: 'forwarded', data: 'service:test' });
  });

  it('passes the status of an error on', async () => {
    handle = () => ({ status: 404, body: '{"detail":"no such order"}' });
    const response = await call('orders/http/orders/9');
    expect(response.status).to.equal(404);
    expect(await response.json()).to.include({ detail: 'no such order' });
  });

  it('carries bytes in both directions, and HEAD', async () => {
    let stored: Buffer = Buffer.alloc(0);
    handle = ({ content, properties }) => {
      const method = properties.headers?.['modgate-method'];
      if (method === 'PUT') stored = content;
      return { body: method === 'PUT' ? '{}' : stored };
    };
    const type = { 'content-type': 'image/png' };
    const put = await call('orders/http/pictures/1', { method: 'PUT', body: PNG, headers: type });
    expect(put.status).to.equal(200);
    const got = await call('orders/http/pictures/1');
    expect(got.headers.get('content-type')).to.equal('application/octet-stream');
    expect(Buffer.from(await got.arrayBuffer())).to.deep.equal(PNG);
    expect((await call('orders/http/pictures/1', { method: 'HEAD' })).status).to.equal(200);
  });

  it('expires messages at the deadline, and counts answers that are late', async () => {
    const held: ConsumeMessage[] = [];
    handle = (message) => {
      held.push(message);
      return null;
    };
    const response = await call('orders/http/orders', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(response.status).to.equal(502);
    expect(await failureIn(response)).to.equal('timeout');
    const [message] = held;
    expect(Number(message?.properties.expiration)).to.be.within(1, TIMEOUT_MS);
    expect(held).to.have.length(1);
    const { channel } = started(service);
    if (message !== undefined) respond(channel, message, {});
    const isCounted = async () =>
      (await ask('/metrics')).includes('modgate_amqp_late_answers_total{module="orders"} 1');
    await waitUntil('the late answer is counted', isCounted);
  });

  for (const [method, path, status, sent] of [
    ['GET', '/orders/7', 200, 2],
    ['POST', '/orders', 502, 1],
  ] as const) {
    it(`${sent === 2 ? 'repeats' : 'does not repeat'} a ${method} whose connection is lost`, async () => {
      let count = 0;
      handle = () => {
        count += 1;
        if (count > 1) return { body: '{}' };
        void started(proxy)
          .set({ kind: 'refuse' })
          .then(() => proxy?.set({ kind: 'none' }));
        return null;
      };
      const headers = { 'content-type': 'application/json' };
      const response = await call(`flaky/http${path}`, {
        method,
        ...(method === 'POST' && { headers, body: '{}' }),
      });
      expect(response.status).to.equal(status);
      expect(count).to.equal(sent);
    });
  }

  it('is unavailable at once without a queue, and says why to operators', async () => {
    const response = await call('nowhere/http/orders/7');
    expect(response.status).to.equal(502);
    expect(await failureIn(response)).to.equal('unavailable');
    const isRecorded = async () =>
      (await ask('/calls?module=nowhere')).includes('no queue takes the message: NO_ROUTE');
    await waitUntil('the call is recorded', isRecorded);
  });

  it('shows its connection in the status of the module', async () => {
    const { modules } = JSON.parse(await ask('/modules')) as {
      readonly modules: readonly { readonly name: string; readonly facts?: unknown }[];
    };
    const facts = modules.find(({ name }) => name === 'orders')?.facts;
    expect(JSON.stringify(facts)).to.match(/"broker","value":"connected to 127\.0\.0\.1:/);
  });

  for (const [name, rule] of [
    ['asking', /manifest/],
    ['checked', /health/],
  ] as const) {
    it(`is refused with ${name === 'asking' ? 'a manifest of the provider' : 'health checks'}`, async () => {
      const { modules } = JSON.parse(await ask('/modules')) as {
        readonly modules: readonly {
          readonly name: string;
          readonly state: string;
          readonly reason: string;
        }[];
      };
      const module = modules.find((each) => each.name === name);
      expect(module?.state).to.equal('refused');
      expect(module?.reason).to.match(rule);
    });
  }
});
