import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { expect } from 'chai';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import {
  authority,
  type Certificate,
  client,
  elsewhere,
  expired,
  serverPin,
  server as trusted,
} from '../../support/certificates.js';
import { failureOf } from '../../support/failure-of.js';
import { useKept } from '../../support/use.js';
import { createInvocation, eventually, type OpenedProvider, openAdapter } from '../open-adapter.js';
import { needRabbit, RABBITMQ_PORT } from './amqp-server.js';

const FILES = { './ca.pem': authority, './client.pem': client.cert, './client.key': client.key };
const CA = { ca: './ca.pem' };
/** A key that does not belong to a certificate of the brokers. */
const OTHER_PIN = Buffer.alloc(32, 3).toString('base64');
const MUTUAL = { ...CA, cert: './client.pem', key: './client.key' };

describe('amqp adapter: TLS', () => {
  const keep = useKept();

  before(async function () {
    await needRabbit(this);
  });

  /** Ends TLS in front of the broker of the machine. */
  const startServer = async ({ cert, key }: Certificate, options: TlsOptions = {}) => {
    const server = createServer({ cert, key, ...options }, (socket) => {
      const broker = connect(RABBITMQ_PORT, '127.0.0.1');
      for (const each of [socket, broker]) each.on('error', () => {});
      socket.once('close', () => broker.destroy());
      broker.once('close', () => socket.destroy());
      socket.pipe(broker).pipe(socket);
    });
    keep(server);
    server.on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };

  const open = async (host: string, port: number, tls?: object) => {
    const config = { url: `amqps://${host}:${port}`, queue: 'q', ...(tls && { tls }) };
    return keep(await openAdapter(amqpAdapter, config, { files: FILES }));
  };

  const isConnected = ({ log }: OpenedProvider) =>
    log.some(({ message }) => message === 'connected to RabbitMQ');

  for (const host of ['127.0.0.1', 'localhost']) {
    it(`verifies the certificate of ${host}`, async () => {
      const running = await open(host, await startServer(trusted), CA);
      await eventually(() => isConnected(running));
    });
  }

  it('verifies tls.servername instead of the host of the URL', async () => {
    const named = { ...CA, servername: 'elsewhere.example' };
    const running = await open('127.0.0.1', await startServer(elsewhere), named);
    await eventually(() => isConnected(running));
  });

  it('sends tls.servername to the broker', async () => {
    const names: string[] = [];
    const options: TlsOptions = {
      SNICallback: (name, done) => {
        names.push(name);
        done(null);
      },
    };
    const port = await startServer(elsewhere, options);
    const running = await open('localhost', port, { ...CA, servername: 'elsewhere.example' });
    await eventually(() => isConnected(running));
    expect(names).to.deep.equal(['elsewhere.example']);
  });

  for (const [title, pins] of [
    ['the pinned key', serverPin],
    ['one of the pinned keys', [OTHER_PIN, serverPin]],
  ] as const) {
    it(`connects to a broker with ${title}`, async () => {
      const port = await startServer(trusted);
      const running = await open('127.0.0.1', port, { ...CA, pin_sha256: pins });
      await eventually(() => isConnected(running));
    });
  }

  it('offers no protocol of HTTP to a broker', async () => {
    // Such a server rejects clients that offer only other protocols.
    const port = await startServer(trusted, { ALPNProtocols: ['amqp'] });
    const running = await open('127.0.0.1', port, CA);
    await eventually(() => isConnected(running));
  });

  it('presents its certificate', async () => {
    const options = { ca: authority, requestCert: true, rejectUnauthorized: true };
    const running = await open('127.0.0.1', await startServer(trusted, options), MUTUAL);
    await eventually(() => isConnected(running));
  });

  const UNTRUSTED: readonly [title: string, certificate: Certificate, tls: object | undefined][] = [
    ['for another host', elsewhere, CA],
    ['that has expired', expired, CA],
    ['of another CA', trusted, undefined],
    ['for its host, but not for tls.servername', trusted, { ...CA, servername: 'a.example' }],
    ['whose key is not pinned', trusted, { ...CA, pin_sha256: OTHER_PIN }],
  ];
  for (const [title, certificate, tls] of UNTRUSTED) {
    it(`does not connect to a broker with a certificate ${title}`, async () => {
      const running = await open('127.0.0.1', await startServer(certificate), tls);
      const { failure, phase } = await failureOf(running.provider.invoke(createInvocation()));
      expect({ failure, phase }).to.deep.equal({ failure: 'unavailable', phase: 'connecting' });
      expect(isConnected(running)).to.equal(false);
    });
  }

  it('does not speak to a broker without TLS', async () => {
    const running = await open('127.0.0.1', RABBITMQ_PORT, CA);
    const { failure, message } = await failureOf(running.provider.invoke(createInvocation()));
    expect({ failure, message }).to.deep.equal({
      failure: 'unavailable',
      message: 'no connection: TLS: wrong version number',
    });
  });

  it('does not open with a key of another certificate', async () => {
    const config = { url: 'amqps://127.0.0.1:1', queue: 'q', tls: MUTUAL };
    const files = { ...FILES, './client.key': trusted.key };
    const error = await openAdapter(amqpAdapter, config, { files }).catch((each: Error) => each);
    expect(error)
      .to.have.property('message')
      .that.matches(/tls.key must belong to tls.cert/);
  });
});
