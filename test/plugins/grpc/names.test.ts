import { ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { authority, server as certificate } from '../../support/certificates.js';
import { Dnsmasq } from '../../support/dns/dnsmasq.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningHost, startHost } from '../../support/start-host.js';
import { started } from '../../support/started.js';
import { createCaller, describeLibrary } from './library-module.js';
import { type LibraryServer, startLibrary } from './library-server.js';

const ROUTES = [{ method: 'POST', path: '/echo', operation: { grpc: 'library.v1.Echo/Echo' } }];
const SERVICE = '_grpc._tcp.library.internal';
const OPERATOR = { authorization: 'Bearer dev-system:operator' };

describe('endpoints by name of kind grpc', () => {
  const servers: LibraryServer[] = [];
  let dnsmasq: Dnsmasq | undefined;
  let host: RunningHost | undefined;
  let release: () => void = () => {};

  afterEach(async () => {
    release();
    await host?.stop();
    host = undefined;
    await dnsmasq?.stop();
    for (const server of servers.splice(0)) await server.stop();
  });

  /** The echo of a request with `aString` waits until it is released. */
  const serve = async (credentials?: ServerCredentials) => {
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await startLibrary(
      {
        Echo: async ({ request }) => {
          if (JSON.stringify(request).includes('hold')) await held;
          return [{ aBool: true }];
        },
      },
      credentials === undefined ? {} : { credentials },
    );
    servers.push(server);
    return server;
  };

  const start = async (endpoints: readonly object[], files = {}, config = {}) => {
    const resolver = {
      servers: [started(dnsmasq).address],
      refresh_ms: 100,
      allow_local: true,
    };
    host = await startHost({
      files: { ...describeLibrary(ROUTES, '', {}, { endpoints, resolver, ...config }), ...files },
    });
    const call = createCaller(host.url);
    return (body: object = {}) => call('/echo', { method: 'POST', body: JSON.stringify(body) });
  };

  const readModule = async () => {
    const response = await fetch(`${started(host).url}/modules`, { headers: OPERATOR });
    const { modules } = (await response.json()) as {
      readonly modules: readonly {
        readonly endpoints: readonly { readonly endpoint: string }[];
        readonly resolve_error?: string | null;
      }[];
    };
    return modules[0];
  };

  const waitForEndpoints = (...expected: readonly string[]) =>
    waitUntil(`the endpoints are ${expected.join()}`, async () => {
      const { endpoints = [] } = (await readModule()) ?? {};
      return endpoints.map(({ endpoint }) => endpoint).join() === expected.join();
    });

  const srv = ({ port }: LibraryServer, priority = 1) =>
    `srv-host=${SERVICE},one.internal,${port},${priority},1`;
  const ADDRESS = 'host-record=one.internal,127.0.0.1';
  const idOf = ({ port }: LibraryServer) => `grpc://127.0.0.1:${port} (${SERVICE})`;

  it('follow SRV records, and calls in flight at a removed one finish', async function () {
    const first = await serve();
    const releaseFirst = release;
    const second = await serve();
    dnsmasq = await Dnsmasq.start(this, [ADDRESS, srv(first)]);
    const call = await start([{ srv: SERVICE }]);
    await waitForEndpoints(idOf(first));
    expect((await call()).status).to.equal(200);
    const inFlight = call({ aString: 'hold' });
    await waitUntil('the call is there', () => first.calls.length === 2);
    await dnsmasq.serve([ADDRESS, srv(second)]);
    await waitForEndpoints(idOf(second));
    expect((await call()).status).to.equal(200);
    expect(second.calls).to.have.length(1);
    releaseFirst();
    expect((await inFlight).status).to.equal(200);
  });

  it('name the reason while a name is unknown, and serve once it is there', async function () {
    const server = await serve();
    dnsmasq = await Dnsmasq.start(this, []);
    const call = await start([{ dns: 'library.internal', port: server.port }]);
    await waitUntil('the reason is shown', async () => {
      return (await readModule())?.resolve_error === 'DNS ENOTFOUND library.internal';
    });
    expect((await call()).status).to.equal(502);
    await dnsmasq.serve(['host-record=library.internal,127.0.0.1']);
    await waitForEndpoints(`grpc://127.0.0.1:${server.port} (library.internal)`);
    expect((await call()).status).to.equal(200);
  });

  it('use the servers of a lower priority while the first is down', async function () {
    const [up, down] = [await serve(), await serve()];
    await down.stop();
    dnsmasq = await Dnsmasq.start(this, [ADDRESS, srv(down, 1), srv(up, 2)]);
    const call = await start([{ srv: SERVICE }], {}, { health: { interval_ms: 100 } });
    await waitForEndpoints(idOf(down), idOf(up));
    await waitUntil('the other one is called', async () => (await call()).status === 200);
    expect(up.calls).to.have.length(1);
  });

  for (const [title, name, status] of [
    ['the name of the descriptor', 'localhost', 200],
    ['no other name', 'library.internal', 502],
  ] as const) {
    it(`trust a certificate for ${title}`, async function () {
      const pair = {
        private_key: Buffer.from(certificate.key),
        cert_chain: Buffer.from(certificate.cert),
      };
      const server = await serve(ServerCredentials.createSsl(null, [pair]));
      dnsmasq = await Dnsmasq.start(this, [
        'address=/localhost/127.0.0.1',
        'host-record=library.internal,127.0.0.1',
      ]);
      const call = await start(
        [{ dns: name, port: server.port, scheme: 'grpcs' }],
        { 'ca.pem': authority },
        { tls: { ca: './ca.pem' } },
      );
      await waitForEndpoints(`grpcs://127.0.0.1:${server.port} (${name})`);
      expect((await call()).status).to.equal(status);
    });
  }
});
