import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import { unixAdapter } from '../../../plugins/http/unix-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { startProvider, startRawProvider } from '../../support/provider.js';
import { createInvocation, eventually, openAdapter } from '../open-adapter.js';

describe('http adapter: lifetime and endpoints', () => {
  for (const scheme of ['http', 'https']) {
    it(`closes every ${scheme} connection with the scope, in use or connecting`, async () => {
      const upstream = await startRawProvider((socket) => socket.resume());
      const url = upstream.url.replace('http', scheme);
      const other = await openAdapter(httpAdapter, { endpoints: [url] });
      let isOtherOpen = true;
      const first = failureOf(other.provider.invoke(createInvocation())).finally(() => {
        isOtherOpen = false;
      });
      await eventually(() => upstream.sockets.size === 1);
      const opened = await openAdapter(httpAdapter, { endpoints: [url] });
      const calls = Array.from({ length: 5 }, () =>
        failureOf(opened.provider.invoke(createInvocation())),
      );
      await eventually(() => upstream.sockets.size === 6);
      await opened.close();
      for (const failure of await Promise.all(calls))
        expect(failure.failure).to.equal('unavailable');
      await eventually(() => upstream.sockets.size <= 1);
      // The timeout of a connection, which would also close them, ends the older one first.
      expect(isOtherOpen).to.equal(true);
      await other.close();
      await first;
      await upstream.stop();
    });
  }

  it('fails as unavailable after the scope', async () => {
    const upstream = await startProvider();
    const opened = await openAdapter(httpAdapter, { endpoints: [upstream.url] });
    await opened.close();
    const failure = await failureOf(opened.provider.invoke(createInvocation()));
    expect(failure.failure).to.equal('unavailable');
    await upstream.stop();
  });

  it('leaves no handle after 1,000 opens', async () => {
    const upstream = await startProvider();
    const before = process.getActiveResourcesInfo().length;
    for (let life = 0; life < 1_000; life += 1) {
      const opened = await openAdapter(httpAdapter, { endpoints: [upstream.url] });
      if (life % 10 === 0) await opened.provider.invoke(createInvocation());
      await opened.close();
    }
    expect(upstream.requests).to.have.length(100);
    await eventually(() => upstream.sockets.size === 0);
    await eventually(() => process.getActiveResourcesInfo().length <= before);
    await upstream.stop();
  });

  it('leaves no listener on the signal of a call', async () => {
    const upstream = await startProvider();
    const opened = await openAdapter(httpAdapter, { endpoints: [upstream.url] });
    const { signal } = new AbortController();
    let listening = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...all: Parameters<typeof addEventListener>) => {
      listening += 1;
      addEventListener.apply(signal, all);
    };
    signal.removeEventListener = (...all: Parameters<typeof removeEventListener>) => {
      listening -= 1;
      removeEventListener.apply(signal, all);
    };
    await opened.provider.invoke(createInvocation({}, { signal }));
    expect(listening).to.equal(0);
    await opened.close();
    await failureOf(opened.provider.invoke(createInvocation({}, { signal })));
    expect(listening).to.equal(0);
    await upstream.stop();
  });

  it('lists its endpoints and calls the chosen one', async () => {
    const [first, two] = [await startProvider(), await startProvider()];
    const { provider, close } = await openAdapter(httpAdapter, {
      endpoints: [first.url, { url: `${two.url}/api/`, weight: 3 }],
    });
    expect(provider.endpoints?.()).to.deep.equal([
      { id: first.url, url: first.url, weight: 1 },
      { id: `${two.url}/api`, url: `${two.url}/api`, weight: 3 },
    ]);
    await provider.invoke(createInvocation());
    await provider.invoke(createInvocation({}, { endpoint: `${two.url}/api` }));
    expect(first.requests.map(({ target }) => target)).to.deep.equal(['/contacts']);
    expect(two.requests.map(({ target }) => target)).to.deep.equal(['/api/contacts']);
    const unknown = provider.invoke(createInvocation({}, { endpoint: 'http://other' }));
    expect((await failureOf(unknown)).failure).to.equal('unavailable');
    await close();
    await Promise.all([first.stop(), two.stop()]);
  });

  it('returns load balancing and health checks to the host', async () => {
    const balancingOf = async (config: object) => {
      const opened = await openAdapter(httpAdapter, { endpoints: ['http://a'], ...config });
      await opened.close();
      return opened.provider.balancing?.();
    };
    expect(await balancingOf({})).to.deep.equal({
      strategy: 'round_robin',
      hashHeader: null,
      health: null,
    });
    expect(
      await balancingOf({ strategy: 'consistent_hash', hash_header: 'X-Tenant', health: {} }),
    ).to.deep.equal({
      strategy: 'consistent_hash',
      hashHeader: 'x-tenant',
      health: { intervalMs: 5_000, timeoutMs: 1_000, failures: 2, successes: 1 },
    });
    const health = { interval_ms: 100, timeout_ms: 10, failures: 3, successes: 4 };
    expect((await balancingOf({ health }))?.health).to.deep.equal({
      intervalMs: 100,
      timeoutMs: 10,
      failures: 3,
      successes: 4,
    });
  });

  it('works over a Unix socket', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'modgate-unix-'));
    const socketPath = join(folder, 'crm.sock');
    const upstream = await startProvider(undefined, { socketPath });
    const { provider, close } = await openAdapter(
      unixAdapter,
      { socket: './crm.sock' },
      { paths: { './crm.sock': socketPath } },
    );
    expect(provider.endpoints?.()).to.deep.equal([
      { id: 'unix:./crm.sock', url: 'http://localhost', weight: 1 },
    ]);
    await provider.check(new AbortController().signal);
    expect((await provider.invoke(createInvocation({ target: '/a?b' }))).status).to.equal(200);
    expect(upstream.requests[0]?.target).to.equal('/a?b');
    expect(upstream.requests[0]?.headers.host).to.equal('localhost');
    await upstream.stop();
    const failure = await failureOf(provider.invoke(createInvocation()));
    expect(failure.failure).to.equal('unavailable');
    await close();
    await rm(folder, { recursive: true });
  });

  it('rejects a socket path that is too long', async () => {
    const socket = `/${'x'.repeat(107)}`;
    let message = '';
    await openAdapter(unixAdapter, { socket }).catch((error: Error) => {
      message = error.message;
    });
    expect(message).to.equal('socket must be a path of at most 107 bytes');
  });
});
