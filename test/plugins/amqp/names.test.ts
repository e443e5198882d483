import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect } from 'chai';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import { authority, type Certificate, elsewhere } from '../../support/certificates.js';
import { type DnsServer, startDnsServer } from '../../support/dns/dns-server.js';
import { failureOf } from '../../support/failure-of.js';
import { useKept } from '../../support/use.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';
import { needRabbit, RABBITMQ_PORT } from './amqp-server.js';

const NAME = 'broker.internal';

describe('amqp adapter: names', () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const keep = useKept();
  let addresses: readonly string[] = [];
  let isDnsDown = false;
  let dns: DnsServer;

  before(async function () {
    await needRabbit(this);
    dns = await startDnsServer(({ type }) => {
      if (isDnsDown) return { rcode: 'SERVFAIL' };
      const found = type === 'A' ? addresses : [];
      if (addresses.length === 0) return { rcode: 'NXDOMAIN' };
      return { records: found.map((address) => ({ type: 'A', address })) };
    });
  });

  after(() => dns?.close());

  afterEach(async () => {
    for (const server of servers.splice(0)) server.close();
    for (const socket of sockets) socket.destroy();
  });

  /** The broker of the machine at another address of loopback. */
  const startBroker = async (address: string, port = 0, certificate?: Certificate) => {
    const forward = (socket: Socket) => {
      const broker = connect(RABBITMQ_PORT, '127.0.0.1');
      for (const each of [socket, broker]) {
        sockets.add(each);
        each.on('error', () => {});
      }
      socket.once('close', () => broker.destroy());
      broker.once('close', () => socket.destroy());
      socket.pipe(broker).pipe(socket);
    };
    const server =
      certificate === undefined ? createServer(forward) : createTlsServer(certificate, forward);
    servers.push(server);
    server.listen(port, address);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };

  const open = async (url: string, resolver: object = {}, config: object = {}) => {
    return keep(
      await openAdapter(
        amqpAdapter,
        {
          ...{ url, queue: 'q', ...config },
          resolver: { servers: [dns.address], refresh_ms: 100, allow_local: true, ...resolver },
        },
        { files: { './ca.pem': authority } },
      ),
    );
  };

  const brokerOf = ({ provider }: OpenedProvider) => provider.facts?.()[0]?.value;
  const isConnectedTo = (running: OpenedProvider, place: string) =>
    eventually(() => brokerOf(running) === `connected to ${place}`);
  const reasonOf = async ({ provider }: OpenedProvider) =>
    (await failureOf(provider.invoke(createInvocation()))).message;

  it('tries all addresses that the DNS server of the resolver knows', async () => {
    const port = await startBroker('127.0.0.3');
    addresses = ['127.0.0.2', '127.0.0.3'];
    const running = await open(`amqp://${NAME}:${port}`);
    await isConnectedTo(running, `${NAME}:${port} (127.0.0.3)`);
    expect(dns.questions.map(({ name }) => name)).to.include(NAME);
  });

  it('follows a name whose address changes, when the connection is lost', async () => {
    const port = await startBroker('127.0.0.3');
    await startBroker('127.0.0.4', port);
    addresses = ['127.0.0.3'];
    const running = await open(`amqp://${NAME}:${port}`);
    await isConnectedTo(running, `${NAME}:${port} (127.0.0.3)`);
    addresses = ['127.0.0.4'];
    servers[0]?.close();
    for (const socket of sockets) socket.destroy();
    await isConnectedTo(running, `${NAME}:${port} (127.0.0.4)`);
  });

  it('resolves the name again after a long connection, before it tries other old addresses', async () => {
    const port = await startBroker('127.0.0.3');
    await startBroker('127.0.0.4', port);
    await startBroker('127.0.0.5', port);
    let oldAttempts = 0;
    servers[1]?.on('connection', () => {
      oldAttempts += 1;
    });
    addresses = ['127.0.0.3', '127.0.0.4'];
    const running = await open(`amqp://${NAME}:${port}`);
    await isConnectedTo(running, `${NAME}:${port} (127.0.0.3)`);
    const stableAt = performance.now() + 5_500;
    await eventually(() => performance.now() >= stableAt);
    addresses = ['127.0.0.5'];
    servers[0]?.close();
    for (const socket of sockets) socket.destroy();
    await isConnectedTo(running, `${NAME}:${port} (127.0.0.5)`);
    expect(oldAttempts).to.equal(0);
  });

  it('asks again after a failed lookup, whatever refresh_ms is', async () => {
    const port = await startBroker('127.0.0.3');
    addresses = ['127.0.0.3'];
    isDnsDown = true;
    const running = await open(`amqp://${NAME}:${port}`, { refresh_ms: 3_600_000 });
    expect(await reasonOf(running)).to.include(`DNS ESERVFAIL ${NAME}`);
    isDnsDown = false;
    await isConnectedTo(running, `${NAME}:${port} (127.0.0.3)`);
  });

  it('verifies the name of the URL, whatever the DNS server answers', async () => {
    const port = await startBroker('127.0.0.3', 0, elsewhere);
    addresses = ['127.0.0.3'];
    const tls = { tls: { ca: './ca.pem' } };
    const named = await open(`amqps://elsewhere.example:${port}`, {}, tls);
    await isConnectedTo(named, `elsewhere.example:${port} (127.0.0.3)`);
    expect(await reasonOf(await open(`amqps://${NAME}:${port}`, {}, tls))).to.match(/certificate/i);
  });

  it('does not connect to local addresses unless they are allowed', async () => {
    const port = await startBroker('127.0.0.3');
    addresses = ['127.0.0.3'];
    const running = await open(`amqp://${NAME}:${port}`, { allow_local: false });
    expect(await reasonOf(running)).to.include(`DNS local address not allowed ${NAME}`);
  });

  it('says what the DNS server does not know', async () => {
    addresses = [];
    expect(await reasonOf(await open(`amqp://${NAME}`))).to.include(`DNS ENOTFOUND ${NAME}`);
  });
});
