import { expect } from 'chai';
import { headerValue, RawConnection } from '../../core/selftest/raw-http.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { call, JSON_TYPE, parseJson, ROOT } from '../support/http/call.js';
import { describeModule, describeWideModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { parseRpc, postMcp } from '../support/mcp/mcp-call.js';
import {
  type HostOptions,
  type RunningHost,
  startHost,
  startHostProcess,
} from '../support/start-host.js';

/** A drain may take longer than a test. */
const ARGS = ['--drain-ms', '600000'];

/** A provider and a host for each test. */
function useFreshHost<Host extends RunningHost>(
  start: (options: HostOptions) => Promise<Host>,
): { readonly provider: EchoProvider; readonly host: Host } {
  let provider: EchoProvider;
  let host: Host;

  beforeEach(async () => {
    provider = await startEchoProvider();
    const files = { 'wide.json': describeWideModule('wide', provider.url) };
    host = await start({ args: ARGS, files });
  });

  afterEach(async () => {
    await host.kill();
    await provider.close();
  });

  return {
    get provider() {
      return provider;
    },
    get host() {
      return host;
    },
  };
}

type Setup = ReturnType<typeof useFreshHost>;

/** A call that the provider answers once it is released. */
async function beginCall({ provider, host }: Setup) {
  const release = holdAnswers(provider);
  const slow = call(host, {
    method: 'POST',
    target: '/modules/wide/http/slow',
    headers: [JSON_TYPE],
    body: Buffer.from('{}'),
  });
  await waitUntil('the call at the provider', () => provider.requests.length === 1);
  // In an object, because the async function would await a bare promise.
  return { slow, release };
}

/** @returns lets the provider answer */
function holdAnswers(provider: EchoProvider): () => void {
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  provider.answer({ after });
  return release;
}

function request(host: RunningHost, target: string): string {
  return `GET ${target} HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\nauthorization: Bearer ${ROOT}\r\n\r\n`;
}

async function isUnreachable(host: RunningHost): Promise<boolean> {
  try {
    (await RawConnection.open(host.port)).destroy();
    return false;
  } catch {
    return true;
  }
}

describe('draining', () => {
  const setup = useFreshHost(startHost);

  it('accepts no new connection while a request is in flight', async () => {
    const { slow, release } = await beginCall(setup);
    const stopped = setup.host.stop();
    await waitUntil('the closed door', () => isUnreachable(setup.host));
    release();
    expect((await slow).status).to.equal(200);
    expect((await stopped).code).to.equal(0);
  });

  it('waits for a call of a tool, whose response is a stream of events', async () => {
    const provider = await startEchoProvider();
    const operation = { operation_id: 'get' };
    const route = { method: 'GET', path: '/slow', capability: 'use', operation };
    const mcp = { expose: 'all', approve: 'never' };
    const host = await startHost({
      files: { 'tools.json': describeModule('tools', provider.url, [route], { mcp }) },
      args: [...ARGS, '--surfaces', 'mcp'],
    });
    const release = holdAnswers(provider);
    const params = '"name":"tools_get","arguments":{}';
    const called = postMcp(host, { method: 'tools/call', params, revision: '2025-06-18' });
    await waitUntil('the call at the provider', () => provider.requests.length === 1);
    const stopped = host.stop();
    await waitUntil('the closed door', () => isUnreachable(host));
    release();
    const { body, headers } = await called;
    expect(headerValue(headers, 'content-type')).to.equal('text/event-stream');
    expect(headerValue(headers, 'modgate-stream')).to.equal(undefined);
    expect(parseRpc(body).result).to.have.property('content');
    await stopped;
    await provider.close();
  });

  it('does not wait for an idle connection', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(request(setup.host, '/livez'));
      expect((await connection.readFinal()).status).to.equal(200);
      expect((await setup.host.stop()).code).to.equal(0);
    } finally {
      connection.destroy();
    }
  });

  it('answers a request that arrives just after it, on a connection opened just before', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      const stopped = setup.host.stop();
      await waitUntil('the closed door', () => isUnreachable(setup.host));
      connection.write(request(setup.host, '/livez'));
      expect((await connection.readFinal()).status).to.equal(200);
      expect((await stopped).code).to.equal(0);
    } finally {
      connection.destroy();
    }
  });

  it('does not wait for a connection on which nothing was sent', async () => {
    const connection = await RawConnection.open(setup.host.port);
    expect((await setup.host.stop()).code).to.equal(0);
    await connection.closed();
  });

  it('reports on an open connection that it is not ready, or closes it', async () => {
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(request(setup.host, '/readyz'));
      expect((await connection.readFinal()).status).to.equal(200);
      const { slow, release } = await beginCall(setup);
      const stopped = setup.host.stop();
      await waitUntil('the closed door', () => isUnreachable(setup.host));
      connection.write(request(setup.host, '/readyz'));
      const answer = await connection.readFinal().catch(() => null);
      if (answer !== null) {
        expect(answer.status).to.equal(503);
        expect(headerValue(answer.headers, 'connection')).to.equal('close');
      }
      release();
      expect((await slow).status).to.equal(200);
      expect((await stopped).code).to.equal(0);
    } finally {
      connection.destroy();
    }
  });

  it('closes the connection of a request in flight after its response', async () => {
    const release = holdAnswers(setup.provider);
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(request(setup.host, '/modules/wide/http/slow'));
      await waitUntil('the call at the provider', () => setup.provider.requests.length === 1);
      const stopped = setup.host.stop();
      await waitUntil('the closed door', () => isUnreachable(setup.host));
      release();
      expect((await connection.readFinal()).status).to.equal(200);
      await connection.closed();
      expect((await stopped).code).to.equal(0);
    } finally {
      connection.destroy();
    }
  });

  it('closes the connection of a surface whose response began before it', async () => {
    const route = { method: 'GET', path: '/a', capability: 'shop.use' };
    const operation = { operation_id: 'a' };
    const { provider } = setup;
    const host = await startHost({
      args: [...ARGS, '--idle-timeout-ms', '600000', '--surfaces', 'mcp'],
      files: {
        'shop.json': describeModule('shop', provider.url, [{ ...route, operation }], {
          mcp: { expose: 'all' },
        }),
      },
    });
    const release = holdAnswers(provider);
    const connection = await RawConnection.open(host.port);
    try {
      const messages = JSON.stringify([
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'shop_a' } },
      ]);
      const head = [
        ...['POST /mcp HTTP/1.1', `host: 127.0.0.1:${host.port}`, `authorization: Bearer ${ROOT}`],
        ...['accept: application/json', 'content-type: application/json'],
        `content-length: ${messages.length}`,
      ];
      connection.write(`${head.join('\r\n')}\r\n\r\n${messages}`);
      await waitUntil('the call at the provider', () => provider.requests.length === 1);
      const stopped = host.stop();
      await waitUntil('the closed door', () => isUnreachable(host));
      release();
      const { body } = await connection.read();
      expect(JSON.parse(body.toString())).to.have.nested.property('1.result.content');
      await connection.closed();
      connection.end();
      expect((await stopped).code).to.equal(0);
    } finally {
      connection.destroy();
      await host.kill();
    }
  });
});

describe('a signal', () => {
  const setup = useFreshHost(startHostProcess);

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal} lets the request in flight finish, then exits 0`, async () => {
      const { slow, release } = await beginCall(setup);
      const stopped = setup.host.stop(signal);
      await waitUntil('the closed door', () => isUnreachable(setup.host));
      release();
      expect(await stopped).to.deep.equal({ code: 0, signal: null });
      const response = await slow;
      expect(response.status).to.equal(200);
      expect(parseJson(response)['data']).to.deep.equal({ ok: true });
    });
  }

  it('exits with 1 at once when it is the second', async () => {
    setup.provider.answer({ raw: [], finally: 'hang' });
    const connection = await RawConnection.open(setup.host.port);
    try {
      connection.write(request(setup.host, '/modules/wide/http/slow'));
      await waitUntil('the call at the provider', () => setup.provider.requests.length === 1);
      const first = setup.host.stop();
      await waitUntil('the closed door', () => isUnreachable(setup.host));
      process.kill(setup.host.pid, 'SIGTERM');
      expect(await first).to.deep.equal({ code: 1, signal: null });
    } finally {
      connection.destroy();
    }
  });
});
