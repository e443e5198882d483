import { expect } from 'chai';
import {
  headerValue,
  type RawHeader,
  type ReceivedResponse,
} from '../../core/selftest/raw-http.js';
import { bridgeTarget } from '../support/bridge/bridge.js';
import { READ } from '../support/bridge/crm.js';
import { call, JSON_TYPE } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { describeModule, describeWideModule } from '../support/http/modules.js';
import { SlowClient } from '../support/http/slow-client.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { scrape } from '../support/observability/exposition.js';

const MIB = 1_048_576;
const ITEMS = '/modules/wide/http/items';
// A body of the bridge is read once its right is known.
const ALICE = `dev-service:alice:wide.use,${READ}`;
const BOB = `dev-service:bob:wide.use,${READ}`;
const MANY_ROUTES = Array.from({ length: 1000 }, (_, index) => ({
  method: 'GET',
  path: `/route/${index}`,
  capability: 'large.read',
}));

describe('memory budget', () => {
  const setup = useHost(
    ({ url }) => ({
      'wide.json': describeWideModule('wide', url, {
        limits: {
          request_bytes: 16 * MIB,
          response_bytes: 16 * MIB,
          hold_bytes: 16 * MIB,
          concurrency: 64,
        },
      }),
      'large.json': describeModule('large', url, MANY_ROUTES),
    }),
    {
      args: ['--memory-budget', '32MiB', '--actor-budget', String(8 * MIB)],
      isDescribed: false,
    },
  );
  const clients: SlowClient[] = [];

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await waitUntil('the release of everything', async () => (await held()) === 0);
    expect((await read()).sum('modgate_in_flight')).to.equal(0);
  });

  const read = () => scrape(setup.host);
  const held = async () => (await read()).sum('modgate_held_bytes');
  const rejected = async (budget: string) =>
    (await read()).sum('modgate_memory_rejected_total', { budget });

  const answerBytes = (size: number) =>
    setup.provider.answer({ body: JSON.stringify('a'.repeat(size)) });

  /** Sends a request whose response stays unread, and waits until the host holds it. */
  const leaveUnread = async (as: string) => {
    const sending = async () => (await read()).sum('modgate_sending');
    const before = await sending();
    const client = await SlowClient.send(setup.host.port, as, { target: ITEMS });
    clients.push(client);
    await waitUntil('the response', async () => (await sending()) === before + 1);
    return client;
  };

  /** Sends this much of a larger body, and waits until the host holds it. */
  const leaveUnsent = async (as: string, size: number) => {
    const before = await held();
    const request = { method: 'POST', target: ITEMS, headers: [JSON_TYPE], body: body(size + 1) };
    clients.push(await SlowClient.send(setup.host.port, as, request, size));
    await waitUntil('the body', async () => (await held()) > before + size - 64 * 1024);
  };

  const body = (size: number) => Buffer.from(JSON.stringify('a'.repeat(size)));

  const expectOverload = (response: ReceivedResponse, limit: string) => {
    const problem = expectProblem(response, 502);
    expect(reasonOf(problem, 'module')).to.equal('wide');
    expect(reasonOf(problem, 'failure')).to.equal('overloaded');
    expect(reasonOf(problem, 'limit')).to.equal(limit);
    expect(headerValue(response.headers, 'retry-after')).to.match(/^[1-9]\d*$/);
    return problem;
  };

  it('counts a response until the client has read it', async () => {
    answerBytes(6 * MIB);
    const client = await leaveUnread(ALICE);
    expect(await held()).to.be.above(6 * MIB);
    expect((await client.read()).length).to.be.above(6 * MIB);
    await waitUntil('the release', async () => (await held()) === 0);
    expect((await read()).sum('modgate_sending')).to.equal(0);
  });

  it('rejects a call beyond the budget of its actor, and serves other actors', async () => {
    answerBytes(6 * MIB);
    await leaveUnread(ALICE);
    const before = await rejected('actor');
    const problem = expectOverload(
      await call(setup.host, { target: ITEMS, as: ALICE }),
      'actor-budget',
    );
    // The provider was called.
    expect(reasonOf(problem, 'provider_status')).to.equal('200');
    expect(await rejected('actor')).to.equal(before + 1);
    expect((await call(setup.host, { target: ITEMS, as: BOB })).status).to.equal(200);
    answerBytes(10);
    expect((await call(setup.host, { target: ITEMS, as: ALICE })).status).to.equal(200);
  });

  it('rejects a response that declares more than the budget before its body arrives', async () => {
    answerBytes(6 * MIB);
    await leaveUnread(ALICE);
    const head = [
      'HTTP/1.1 200 OK',
      'content-type: application/json',
      `content-length: ${6 * MIB}`,
    ];
    setup.provider.answer({ raw: [`${head.join('\r\n')}\r\n\r\n`], finally: 'hang' });
    const response = await call(setup.host, { target: ITEMS, as: ALICE });
    expect(reasonOf(expectOverload(response, 'actor-budget'), 'provider_status')).to.equal('200');
  });

  it('serves the only call of an actor beyond its budget', async () => {
    answerBytes(10 * MIB);
    for (let round = 0; round < 2; round += 1) {
      const { status } = await call(setup.host, { target: ITEMS, as: ALICE });
      expect(status).to.equal(200);
    }
  });

  it('rejects calls of everyone beyond the budget of the host, and host routes with 503', async () => {
    // Leaves less than 32 KiB: more than a response of /metrics, less than one of /manifests.
    answerBytes(8 * MIB - 8192);
    for (const actor of ['a', 'b', 'c', 'd']) await leaveUnread(`dev-service:${actor}:wide.use`);
    const before = await rejected('memory');
    expectOverload(await call(setup.host, { target: ITEMS, as: BOB }), 'memory-budget');
    expect(await rejected('memory')).to.equal(before + 1);
    const posted = { method: 'POST', target: ITEMS, headers: [JSON_TYPE], body: body(65_536) };
    expectOverload(await call(setup.host, { ...posted, as: BOB }), 'memory-budget');
    const manifests = await call(setup.host, { target: '/manifests' });
    const problem = expectProblem(manifests, 503);
    expect(reasonOf(problem, 'limit')).to.equal('memory-budget');
    expect(headerValue(manifests.headers, 'retry-after')).to.equal('1');
    for (const target of ['/livez', '/readyz']) {
      expect((await call(setup.host, { target, as: null })).status).to.equal(200);
    }
  });

  it('counts a request body while it arrives', async () => {
    await leaveUnsent(ALICE, 6 * MIB);
    const posted = { method: 'POST', target: ITEMS, headers: [JSON_TYPE], body: body(3 * MIB) };
    const response = await call(setup.host, { ...posted, as: ALICE });
    const { errors } = expectOverload(response, 'actor-budget');
    expect(errors.map(({ field }) => field)).not.to.include('provider_status');
    expect((await call(setup.host, { ...posted, as: BOB })).status).to.equal(200);
    expect(setup.provider.requests).to.have.length(1);
  });

  it('counts the body of a bridge request', async () => {
    const target = bridgeTarget('wide', READ);
    const sent = { method: 'POST', target, headers: [JSON_TYPE], body: body(MIB - 1024) };
    for (let count = 0; count < 8; count += 1) {
      clients.push(await SlowClient.send(setup.host.port, ALICE, sent, MIB - 4096));
    }
    await waitUntil('the bodies', async () => (await held()) > 7.9 * MIB);
    expectOverload(await call(setup.host, { ...sent, as: ALICE }), 'actor-budget');
    const { status } = await call(setup.host, { ...sent, as: BOB });
    expect(status).to.equal(400);
  });

  it('counts a bridge body in tiny parts as what it occupies', async () => {
    const headers: RawHeader[] = [JSON_TYPE, ['transfer-encoding', 'chunked']];
    const sent = { method: 'POST', target: bridgeTarget('wide', READ), headers };
    const client = await SlowClient.send(setup.host.port, ALICE, sent);
    clients.push(client);
    client.write('1\r\na\r\n'.repeat(10_000));
    await waitUntil('the parts', async () => (await held()) > 300_000);
  });

  it('releases what a failed call holds', async () => {
    // Cut short: the length is never reached.
    setup.provider.answer({
      raw: [
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999999\r\n\r\n"',
        'a'.repeat(3 * MIB),
      ],
      finally: 'reset',
    });
    expectProblem(await call(setup.host, { target: ITEMS, as: ALICE }), 502);
    setup.provider.answer({ body: `"${'a'.repeat(3 * MIB)}` });
    expectProblem(await call(setup.host, { target: ITEMS, as: ALICE }), 502);
    expect(await held()).to.equal(0);
  });
});
