import { expect } from 'chai';
import { headerValue } from '../../core/selftest/raw-http.js';
import { call } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { describeWideModule } from '../support/http/modules.js';
import { SlowClient } from '../support/http/slow-client.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { scrape } from '../support/observability/exposition.js';

/** More than the buffers of the system hold. */
const BODY = JSON.stringify('a'.repeat(8 * 1_048_576));
const ALICE = 'dev-service:alice:wide.use';
const BOB = 'dev-service:bob:wide.use';

describe('places of limits.concurrency', () => {
  const setup = useHost(
    ({ url }) => {
      const limit = (concurrency: number) => ({
        limits: {
          concurrency,
          queue: 0,
          response_bytes: 2 * BODY.length,
          hold_bytes: 2 * BODY.length,
        },
      });
      return {
        'one.json': describeWideModule('one', url, limit(1)),
        'eight.json': describeWideModule('eight', url, limit(8)),
      };
    },
    { args: ['--actor-budget', '128MiB'] },
  );
  const clients: SlowClient[] = [];

  const read = async (metric: string, module: string) =>
    (await scrape(setup.host)).sum(`modgate_${metric}`, { module });
  const items = (module: string) => `/modules/${module}/http/items`;
  const ask = (module: string, as: string) => call(setup.host, { target: items(module), as });

  /** Requests responses one after the other, and reads none. */
  const leaveUnread = async (module: string, as: string, count: number) => {
    setup.provider.answer({ body: BODY });
    const before = await read('sending', module);
    for (let sent = 1; sent <= count; sent += 1) {
      clients.push(await SlowClient.send(setup.host.port, as, { target: items(module) }));
      await waitUntil(
        'the response',
        async () => (await read('sending', module)) === before + sent,
      );
    }
    setup.provider.reset();
  };

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    for (const module of ['one', 'eight']) {
      await waitUntil('its places', async () => (await read('in_flight', module)) === 0);
      expect(await read('sending', module)).to.equal(0);
    }
  });

  it('are occupied until the response has left', async () => {
    await leaveUnread('one', ALICE, 1);
    const response = await ask('one', BOB);
    const problem = expectProblem(response, 502);
    expect(reasonOf(problem, 'limit')).to.equal('limits.concurrency');
    expect(headerValue(response.headers, 'retry-after')).to.equal('1');
    await clients[0]?.read();
    await waitUntil('its place', async () => (await read('in_flight', 'one')) === 0);
    expect((await ask('one', BOB)).status).to.equal(200);
  });

  it('are occupied to a quarter by responses that are sent to one actor', async () => {
    await leaveUnread('eight', ALICE, 5);
    expect(await read('in_flight', 'eight')).to.equal(2);
    await leaveUnread('eight', BOB, 3);
    expect(await read('in_flight', 'eight')).to.equal(4);
    expect((await ask('eight', ALICE)).status).to.equal(200);
    expect((await ask('eight', BOB)).status).to.equal(200);
  });

  it('are returned when the client disconnects', async () => {
    await leaveUnread('one', ALICE, 1);
    clients[0]?.destroy();
    await waitUntil('its place', async () => (await read('in_flight', 'one')) === 0);
    expect((await ask('one', BOB)).status).to.equal(200);
  });
});
