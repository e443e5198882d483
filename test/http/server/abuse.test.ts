import { expect } from 'chai';
import { headerValue, RawConnection, type RawHeader } from '../../../core/selftest/raw-http.js';
import { call } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { describeWideModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type Exposition, scrape } from '../../support/observability/exposition.js';

const ROUTE = '/modules/crm/http/items';
const AUTH = 'authorization: Bearer dev-system:root\r\n';

describe('connection limits', () => {
  const setup = useHost((provider) => ({ 'crm.json': describeWideModule('crm', provider.url) }), {
    args: [
      ...['--head-timeout-ms', '1500', '--body-timeout-ms', '1200', '--request-timeout-ms', '6000'],
      ...['--max-headers', '20', '--max-requests-per-connection', '3', '--max-connections', '8'],
    ],
  });
  const open = () => RawConnection.open(setup.host.port);
  const head = (length: number) =>
    `POST ${ROUTE} HTTP/1.1\r\nhost: 127.0.0.1\r\n${AUTH}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const metric = async (name: string): Promise<number> => {
    const exposed: Exposition = await scrape(setup.host);
    return exposed.sum(name);
  };

  it('reject too many headers with 431 and close', async () => {
    const sendWith = (count: number) => {
      // `call` adds host, authorization and connection.
      const headers = Array.from(
        { length: count - 3 },
        (_, index): RawHeader => [`x-${index}`, 'a'],
      );
      return call(setup.host, { target: ROUTE, headers });
    };
    expect((await sendWith(20)).status).to.equal(200);
    const rejected = await sendWith(21);
    expect(reasonOf(expectProblem(rejected, 431), 'headers')).to.equal('more than 20');
    expect(headerValue(rejected.headers, 'connection')).to.equal('close');
  });

  it('reject an incomplete head with 408', async () => {
    const connection = await open();
    connection.write('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: ');
    expectProblem(await connection.readFinal({ deadlineMs: 15_000 }), 408);
    await connection.closed();
  });

  for (const target of [ROUTE, '/modules/crm/http/console-bridge/a']) {
    it(`reject a body that stalls with 408 and close: ${target}`, async () => {
      const connection = await open();
      connection.write(`${head(100).replace(ROUTE, target)}{"a":`);
      const response = await connection.readFinal({ deadlineMs: 15_000 });
      expect(reasonOf(expectProblem(response, 408), 'body')).to.match(/1200 ms/);
      expect(headerValue(response.headers, 'connection')).to.equal('close');
      await connection.closed();
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('accept a slow body that does not stall', async () => {
    const connection = await open();
    const body = '{"a":"12345"}';
    connection.write(head(body.length));
    for (const byte of body) {
      connection.write(byte);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect((await connection.readFinal({ deadlineMs: 15_000 })).status).to.equal(200);
    connection.destroy();
  });

  it('end a request that takes too long in total', async () => {
    const connection = await open();
    connection.write(head(1000));
    const drip = setInterval(() => connection.write(' '), 100);
    try {
      expectProblem(await connection.readFinal({ deadlineMs: 15_000 }), 408);
      await connection.closed();
    } finally {
      clearInterval(drip);
    }
  });

  it('respond to the last request of a connection, then close it', async () => {
    const connection = await open();
    const request = `GET ${ROUTE} HTTP/1.1\r\nhost: 127.0.0.1\r\n${AUTH}\r\n`;
    const closes = [];
    for (let index = 0; index < 3; index += 1) {
      connection.write(request);
      const { status, headers } = await connection.readFinal();
      expect(status).to.equal(200);
      closes.push(headerValue(headers, 'connection')?.toLowerCase());
    }
    expect(closes).to.deep.equal([closes[0], closes[0], 'close']);
    expect(closes[0]).not.to.equal('close');
    await connection.closed();
    expect(connection.unread).to.equal('');
  });

  it('close a connection over the limit at once and count it', async () => {
    await waitUntil(
      'the end of other connections',
      async () => (await metric('modgate_connections')) <= 1,
    );
    const before = await metric('modgate_connections_dropped_total');
    const connections = await Promise.all(Array.from({ length: 12 }, open));
    await waitUntil(
      'connections that are closed',
      () => connections.filter((connection) => connection.isClosed).length >= 4,
    );
    for (const connection of connections) connection.destroy();
    await waitUntil(
      'room for another',
      async () => (await metric('modgate_connections_dropped_total').catch(() => 0)) >= before + 4,
    );
    expect((await call(setup.host, { target: '/livez', as: null })).status).to.equal(200);
  });
});

describe('rate limits', () => {
  const limited = (provider: { readonly url: string }, rate: object) =>
    describeWideModule('crm', provider.url, { rate });
  // Refills one call in 1,000 s, which no test waits for.
  const SLOW = 0.001;

  describe('of a module', () => {
    const setup = useHost((provider) => ({
      'all.json': { ...limited(provider, { per_second: SLOW, burst: 3 }), module: 'all' },
      'each.json': {
        ...limited(provider, { actor_per_second: SLOW, actor_burst: 2 }),
        module: 'each',
      },
      'quick.json': { ...limited(provider, { per_second: 5, burst: 1 }), module: 'quick' },
      'crm.json': limited(provider, {}),
    }));
    const get = (module: string, as: string) =>
      call(setup.host, { target: `/modules/${module}/http/items`, as });
    const statuses = async (module: string, callers: readonly string[]) => {
      const collected: number[] = [];
      for (const as of callers) collected.push((await get(module, as)).status);
      return collected;
    };
    const A = 'dev-service:a:wide.use';
    const B = 'dev-service:b:wide.use';

    it('reject calls of any actor above the rate of the module with 429 and retry-after', async () => {
      expect(await statuses('all', [A, B, A, B])).to.deep.equal([200, 200, 200, 429]);
      const rejected = await get('all', A);
      expect(reasonOf(expectProblem(rejected, 429), 'module')).to.equal('rate limit');
      expect(Number(headerValue(rejected.headers, 'retry-after'))).to.be.within(900, 1000);
      expect(setup.provider.requests).to.have.length(3);
    });

    it('reject only the actor above its rate', async () => {
      expect(await statuses('each', [A, A, A, B, B, B])).to.deep.equal([
        200, 200, 429, 200, 200, 429,
      ]);
      const rejected = expectProblem(await get('each', A), 429);
      expect(reasonOf(rejected, 'actor')).to.equal('rate limit');
      expect(await statuses('each', ['dev-system:a'])).to.deep.equal([200]);
    });

    it('are not used up by callers without the capability', async () => {
      const lacking = 'dev-service:c:other';
      expect(await statuses('quick', Array(5).fill(lacking))).to.deep.equal(Array(5).fill(403));
      await waitUntil('a turn', async () => (await get('quick', A)).status === 200);
    });

    it('accept calls again after the wait', async () => {
      await waitUntil('a rejection', async () => (await get('quick', A)).status === 429);
      await waitUntil('a turn', async () => (await get('quick', A)).status === 200);
    });

    it('do not apply by default', async () => {
      expect(await statuses('crm', Array(20).fill(A))).to.deep.equal(Array(20).fill(200));
    });

    it('are counted', async () => {
      const exposed = await scrape(setup.host);
      const count = (module: string, limit: string) =>
        exposed.sum('modgate_rate_limited_total', { module, limit });
      expect(count('all', 'module')).to.be.at.least(2);
      expect(count('each', 'actor')).to.be.at.least(3);
      expect(count('crm', 'module')).to.equal(0);
    });

    it('are shown by explain', async () => {
      const target = `/explain?method=GET&target=${encodeURIComponent('/modules/all/http/items')}`;
      const response = await call(setup.host, { target });
      const { limits } = JSON.parse(response.body.toString());
      expect(limits.find((entry: { name: string }) => entry.name === 'rate.burst')).to.include({
        value: 3,
      });
    });
  });

  describe('of an actor on the host', () => {
    const setup = useHost((provider) => ({ 'crm.json': limited(provider, {}) }), {
      args: ['--actor-rate', String(SLOW), '--actor-burst', '2'],
    });

    it('apply to every route, including unknown ones', async () => {
      const as = 'dev-service:a:wide.use';
      const statuses = [];
      for (const target of [ROUTE, '/modules/nowhere/http/a', ROUTE, '/modules']) {
        statuses.push((await call(setup.host, { target, as })).status);
      }
      expect(statuses).to.deep.equal([200, 404, 429, 429]);
      expect(
        (await call(setup.host, { target: ROUTE, as: 'dev-service:b:wide.use' })).status,
      ).to.equal(200);
      expect((await call(setup.host, { target: '/livez', as: null })).status).to.equal(200);
      expectProblem(await call(setup.host, { target: ROUTE, as: 'unknown' }), 401);
    });
  });
});
