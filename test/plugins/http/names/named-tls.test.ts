import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { httpAdapter } from '../../../../plugins/http/http-adapter.js';
import { authority, elsewhere, server as here } from '../../../support/certificates.js';
import { type DnsServer, startDnsServer } from '../../../support/dns/dns-server.js';
import { a, srv } from '../../../support/dns/use-names.js';
import { failureOf } from '../../../support/failure-of.js';
import { createInvocation, openAdapter } from '../../open-adapter.js';

describe('endpoints by name: TLS', () => {
  let dns: DnsServer;
  const servers: Server[] = [];

  afterEach(async () => {
    await dns.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await once(server.close(), 'close');
    }
  });

  /** Answers the status, or the failure. The target of the record is `elsewhere.example`. */
  const call = async (certificate: object, name: string, tls: object = {}) => {
    const provider = createServer(certificate, (_request, response) => response.end('{}'));
    servers.push(provider);
    await once(provider.listen(0, '127.0.0.1'), 'listening');
    const { port } = provider.address() as AddressInfo;
    dns = await startDnsServer(({ type }) => ({
      records: type === 'SRV' ? [srv('elsewhere.example', port)] : a('127.0.0.1'),
    }));
    const opened = await openAdapter(
      httpAdapter,
      {
        endpoints: [{ srv: `_https._tcp.${name}`, scheme: 'https' }],
        resolver: { servers: [dns.address], allow_local: true },
        tls: { ca: 'ca.pem', ...tls },
      },
      { files: { 'ca.pem': authority } },
    );
    const [endpoint] = opened.provider.endpoints?.() ?? [];
    const invocation = createInvocation({}, { endpoint: `${endpoint?.id}` });
    try {
      const calling = opened.provider.invoke(invocation);
      return await calling.then(
        ({ status }) => `${status}`,
        async () => (await failureOf(calling)).detail,
      );
    } finally {
      await opened.close();
    }
  };

  it('verifies the name of the descriptor', async () => {
    expect(await call(here, 'localhost')).to.equal('200');
  });

  it('rejects a certificate for the target of the record', async () => {
    expect(await call(elsewhere, 'localhost')).to.equal('certificate for elsewhere.example');
  });

  it('verifies tls.servername where it is given', async () => {
    const tls = { servername: 'elsewhere.example' };
    expect(await call(elsewhere, 'localhost', tls)).to.equal('200');
    await dns.close();
    expect(await call(here, 'localhost', tls)).to.equal('certificate for localhost, 127.0.0.1');
  });
});
