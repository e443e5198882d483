import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { useExpiringToken } from '../../../support/auth/use-expiring-token.js';
import { call, parseJson } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';
import { useScriptedProvider } from '../../../support/http/use-scripted-provider.js';
import { beginEvents, readStream, SSE, useStreams } from '../../../support/http/use-streams.js';
import { waitUntil } from '../../../support/http/wait-until.js';

const first = (_request: unknown, response: ServerResponse) => {
  beginEvents(response);
  response.write('data: 1\n\n');
};

describe('limits of streams of events', () => {
  const setup = useStreams();
  const open = async (as: string, module = 'quick', path = '/events/1') => {
    const headers = { ...SSE, authorization: `Bearer ${as}` };
    return setup.fetch(module, path, { headers });
  };
  const countsOf = async (module: string) => {
    const { modules } = parseJson(await call(setup.host, { method: 'GET', target: '/modules' }));
    const entry = (modules as { name: string; counts: Record<string, number> }[]).find(
      ({ name }) => name === module,
    );
    return entry?.counts ?? {};
  };
  const metric = async () => {
    const response = await fetch(`${setup.host.url}/metrics`);
    return /^modgate_streams_open\{.*kind="sse".*\} (\d+)$/m.exec(await response.text())?.[1];
  };
  const kept = (end: ServerResponse[]) => (_request: unknown, response: ServerResponse) => {
    end.push(response);
    first(null, response);
    // A silent provider would end them.
    const timer = setInterval(() => response.write(': on\n\n'), 100);
    response.once('close', () => clearInterval(timer));
  };

  for (const module of ['quick', 'quick-raw']) {
    it(`are counted for each actor and for the module (${module})`, async () => {
      const opened: ServerResponse[] = [];
      setup.answer(kept(opened));
      const streams = [];
      for (let index = 0; index < 3; index += 1) {
        streams.push(readStream(await open('dev-service:ann:chat.use', module)));
      }
      for (const stream of streams) await stream.until('data: 1');
      const fourth = await open('dev-service:ann:chat.use', module);
      expect(fourth.status).to.equal(429);
      expect(fourth.headers.get('retry-after')).to.equal('1');
      expect(await fourth.json()).to.include({ code: 'rate_limited' });
      const other = readStream(await open('dev-service:bob:chat.use', module));
      await other.until('data: 1');
      const beyond = await open('dev-service:eve:chat.use', module);
      expect(beyond.status).to.equal(502);
      expect(((await beyond.json()) as { errors: object[] }).errors).to.deep.include.members([
        { field: 'failure', reason: 'overloaded' },
        { field: 'limit', reason: 'limits.stream.total' },
      ]);
      expect(await countsOf(module)).to.include({ streams: 4, in_flight: 0 });
      expect(await metric()).to.equal('4');
      for (const response of opened) response.end();
      for (const stream of [...streams, other]) await stream.end();
      await waitUntil('they are counted', async () => (await metric()) === '0');
      expect(await countsOf(module)).not.to.have.property('streams');
      const again = readStream(await open('dev-service:ann:chat.use', module));
      await again.until('data: 1');
      await again.cancel();
      await waitUntil('it is closed', async () => (await metric()) === '0');
    });
  }

  it('leave the places of calls free', async () => {
    setup.answer((request, response) => {
      if (request.url === '/items') {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      } else kept([])(request, response);
    });
    const streams = [];
    for (let index = 0; index < 3; index += 1) {
      streams.push(readStream(await open('dev-service:ann:chat.use')));
    }
    for (const stream of streams) await stream.until('data: 1');
    const items = await setup.fetch('quick', '/items');
    expect(items.status).to.equal(200);
    for (const stream of streams) await stream.cancel();
    await waitUntil('they are closed', async () => (await metric()) === '0');
  });

  it('measure durations to the head', async () => {
    setup.answer(first);
    await (await open('dev-service:ann:chat.use', 'short', '/events/1')).text();
    const text = await (await fetch(`${setup.host.url}/metrics`)).text();
    const sums = /^modgate_host_duration_seconds_sum\{.*module="short".*\} (\S+)$/m.exec(text)?.[1];
    const { duration_ms } = await setup.lastCall();
    expect(duration_ms).to.be.at.least(1000);
    expect(1000 * Number(sums)).to.be.below(1000);
  });
});

describe('the end of streams of events', () => {
  const routes = [
    { method: 'GET', path: '/events', capability: 'chat.use', operation: { stream: 'sse' } },
  ];
  const describe = (module: string, url: string, overrides: object) =>
    describeModule(module, url, routes, overrides);
  const setup = useScriptedProvider(
    (url) => ({
      'one.json': describe('one', url, {}),
      'raw.json': describe('raw', url, { responses: { mode: 'raw' } }),
      'other.json': describe('other', url, {}),
    }),
    ['--drain-ms', '300'],
  );

  it('comes drain-ms after a reload of their module, and with no other', async () => {
    setup.answer(first);
    const streams = [];
    for (const module of ['one', 'raw', 'other']) {
      streams.push(readStream(await setup.fetch(module, '/events', { headers: SSE })));
    }
    for (const stream of streams) await stream.until('data: 1');
    const [plain, raw, other] = streams;
    const { url } = setup.provider;
    setup.host.drop('one.json', describe('one', url, { limits: { timeout_ms: 4000 } }));
    setup.host.drop(
      'raw.json',
      describe('raw', url, { responses: { mode: 'raw' }, limits: { timeout_ms: 4000 } }),
    );
    expect(await plain?.end()).to.match(
      /data: 1\n\nevent: modgate.end\ndata: \{"reason":"reload"\}\n\n$/,
    );
    const cut = await raw?.end().then(
      () => null,
      (error: unknown) => error,
    );
    expect(cut).to.be.instanceOf(Error);
    await waitUntil('one is left', () => setup.provider.sockets.size === 1);
    await other?.cancel();
  });

  it('comes with a shutdown, drain-ms after it began', async () => {
    setup.answer(first);
    const stream = readStream(await setup.fetch('other', '/events', { headers: SSE }));
    await stream.until('data: 1');
    const stopped = setup.host.stop();
    expect(await stream.end()).to.match(/event: modgate.end\ndata: \{"reason":"shutdown"\}\n\n$/);
    await stopped;
  });
});

describe('streams of events and credentials', () => {
  const route = { method: 'GET', path: '/events', capability: 'chat.use' };
  const setup = useExpiringToken(
    (url) => ({ 'm.json': describeModule('m', url, [{ ...route, operation: { stream: 'sse' } }]) }),
    first,
  );

  it('end when the credential expires', async () => {
    const headers = { ...SSE, authorization: `Bearer ${setup.token}` };
    const response = await fetch(`${setup.host.url}/modules/m/http/events`, { headers });
    expect(response.status).to.equal(200);
    expect(await response.text()).to.match(
      /data: 1\n\nevent: modgate.end\ndata: \{"reason":"unauthorized"\}\n\n$/,
    );
    expect(Date.now()).to.be.at.least(setup.expiresAt);
  });
});
