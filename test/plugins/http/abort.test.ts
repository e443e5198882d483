import { expect } from 'chai';
import { ProviderFailure } from '../../../core/contract/index.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import {
  type RunningProvider,
  startAnsweringProvider,
  startProvider,
  startRawProvider,
} from '../../support/provider.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';

describe('http adapter: aborted calls', () => {
  let opened: OpenedProvider;
  let upstream: RunningProvider;

  afterEach(async () => {
    await opened.close();
    await upstream.stop();
  });

  const open = async (starting: Promise<RunningProvider>) => {
    upstream = await starting;
    opened = await openAdapter(httpAdapter, { endpoints: [upstream.url] });
    return opened.provider;
  };

  const REASONS: Readonly<Record<string, { reason?: unknown; expected: string }>> = {
    'a failure of the host': {
      reason: new ProviderFailure('timeout', 'over'),
      expected: 'timeout',
    },
    'a TimeoutError': { reason: new DOMException('over', 'TimeoutError'), expected: 'timeout' },
    'no reason': { expected: 'cancelled' },
    'any other reason': { reason: new Error('gone'), expected: 'cancelled' },
  };
  for (const [name, { reason, expected }] of Object.entries(REASONS)) {
    it(`fail as ${expected} on ${name}, before and during the response`, async () => {
      for (const head of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"a']) {
        let answered = false;
        const provider = await open(
          startAnsweringProvider(head, () => {
            answered = true;
          }),
        );
        const controller = new AbortController();
        let isHeadRead = false;
        const countReceived = () => {
          isHeadRead = true;
        };
        const { signal } = controller;
        const call = provider.invoke(createInvocation({}, { signal, countReceived }));
        await eventually(() => answered && (head === '' || isHeadRead));
        controller.abort(reason);
        const failure = await failureOf(call);
        expect(failure.failure).to.equal(expected);
        expect(failure.phase).to.equal('responding');
        // A failure of the host keeps its message and gets the status that the provider had sent.
        if (reason instanceof ProviderFailure) expect(failure.message).to.equal(reason.message);
        expect(failure.status).to.equal(
          head === '' || !(reason instanceof ProviderFailure) ? null : 200,
        );
        await eventually(() => upstream.sockets.size === 0);
        await opened.close();
        await upstream.stop();
      }
    });
  }

  it('are not sent when the signal is already aborted', async () => {
    const provider = await open(startProvider());
    const call = provider.invoke(createInvocation({}, { signal: AbortSignal.abort() }));
    expect((await failureOf(call)).failure).to.equal('cancelled');
    await provider.invoke(createInvocation({ target: '/after' }));
    expect(upstream.accepted()).to.equal(1);
    expect(upstream).to.have.nested.property('requests.length', 1);
  });

  it('are not sent when aborted while connecting', async () => {
    const provider = await open(startProvider());
    const controller = new AbortController();
    const { signal } = controller;
    const call = provider.invoke(createInvocation({ target: '/aborted' }, { signal }));
    controller.abort();
    expect(await failureOf(call)).to.include({ failure: 'cancelled', phase: 'connecting' });
    await provider.invoke(createInvocation({ target: '/after' }));
    expect(upstream).to.have.nested.property('requests.length', 1);
    expect(upstream).to.have.nested.property('requests[0].target', '/after');
  });

  it('close a connection that is not established yet', async () => {
    // The peer accepts the connection and never answers the TLS handshake.
    upstream = await startRawProvider((socket) => socket.resume());
    const url = upstream.url.replace('http:', 'https:');
    opened = await openAdapter(httpAdapter, { endpoints: [url] });
    let isOtherOpen = true;
    const other = failureOf(opened.provider.invoke(createInvocation())).finally(() => {
      isOtherOpen = false;
    });
    await eventually(() => upstream.sockets.size === 1);
    const controller = new AbortController();
    const call = opened.provider.invoke(createInvocation({}, { signal: controller.signal }));
    await eventually(() => upstream.sockets.size === 2);
    controller.abort(new ProviderFailure('timeout', 'over'));
    expect(await failureOf(call)).to.include({ failure: 'timeout', phase: 'connecting' });
    await eventually(() => upstream.sockets.size <= 1);
    // The timeout of a connection, which would also close it, ends the older one first.
    expect(isOtherOpen).to.equal(true);
    expect(upstream.accepted()).to.equal(2);
    await opened.close();
    await other;
  });

  it('open no new connection', async () => {
    const provider = await open(startProvider(() => {}));
    for (let call = 1; call <= 3; call += 1) {
      const controller = new AbortController();
      const failing = failureOf(
        provider.invoke(createInvocation({}, { signal: controller.signal })),
      );
      await eventually(() => upstream.sockets.size === 1);
      controller.abort();
      await failing;
      await eventually(() => upstream.sockets.size === 0);
      expect(upstream.accepted()).to.equal(call);
    }
  });

  it('stop reading a response that arrives byte by byte', async () => {
    const provider = await open(
      startProvider((_request, response) => {
        const timer = setInterval(() => response.write('x'), 2);
        response.on('close', () => clearInterval(timer));
      }),
    );
    const signal = AbortSignal.timeout(50);
    const failure = await failureOf(provider.invoke(createInvocation({}, { signal })));
    expect(failure.failure).to.equal('timeout');
    await eventually(() => upstream.sockets.size === 0);
  });

  it('do not affect a complete response', async () => {
    const provider = await open(startProvider());
    const controller = new AbortController();
    const signal = controller.signal;
    expect((await provider.invoke(createInvocation({}, { signal }))).status).to.equal(200);
    controller.abort();
    expect((await provider.invoke(createInvocation())).status).to.equal(200);
  });
});
