import type { TlsOptions } from 'node:tls';
import { expect } from 'chai';
import { createConnector } from '../../../plugins/http/connector.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';
import {
  authority,
  client,
  elsewhere,
  expired,
  server,
  serverPin,
  stranger,
} from '../../support/certificates.js';
import { failureOf } from '../../support/failure-of.js';
import { startProvider } from '../../support/provider.js';
import { createInvocation, openAdapter } from '../open-adapter.js';

const FILES = {
  'ca.pem': authority,
  'stranger.pem': stranger,
  'client.pem': client.cert,
  'client.key': client.key,
  'server.key': server.key,
  'notes.txt': 'no certificate',
};

/** Answers the status, or the failure and its code. */
async function callOverTls(serving: TlsOptions, tls: object): Promise<string> {
  const upstream = await startProvider(undefined, { tls: serving });
  const opened = await openAdapter(
    httpAdapter,
    { endpoints: [upstream.url], tls },
    { files: FILES },
  );
  try {
    const call = opened.provider.invoke(createInvocation());
    return await call.then(
      ({ status }) => `${status}`,
      async () => {
        const failure = await failureOf(call);
        expect(upstream.requests).to.have.length(0);
        return `${failure.failure}: ${failure.message}`;
      },
    );
  } finally {
    await opened.close();
    await upstream.stop();
  }
}

async function refusalOf(tls: object): Promise<string> {
  try {
    await openAdapter(httpAdapter, { endpoints: ['https://a'], tls }, { files: FILES });
  } catch (error) {
    return (error as Error).message;
  }
  return expect.fail('expected the config to be refused');
}

describe('http adapter: TLS', () => {
  it('trusts the configured CA', async () => {
    expect(await callOverTls(server, { ca: 'ca.pem' })).to.equal('200');
  });

  it('trusts no other CA', async () => {
    expect(await callOverTls(server, { ca: 'stranger.pem' })).to.match(/^unavailable/);
    expect(await callOverTls(server, {})).to.match(/^unavailable/);
  });

  it('ignores NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await callOverTls(server, {})).to.match(/^unavailable/);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('rejects a certificate for another host, unless the config names it', async () => {
    const answer = await callOverTls(elsewhere, { ca: 'ca.pem' });
    expect(answer).to.equal('unavailable: no response (ERR_TLS_CERT_ALTNAME_INVALID)');
    const tls = { ca: 'ca.pem', servername: 'elsewhere.example' };
    expect(await callOverTls(elsewhere, tls)).to.equal('200');
    expect(await callOverTls(server, tls)).to.match(/ALTNAME/);
  });

  it('rejects an expired certificate', async () => {
    const answer = await callOverTls(expired, { ca: 'ca.pem' });
    expect(answer).to.equal('unavailable: no response (CERT_HAS_EXPIRED)');
  });

  it('presents its own certificate where one is required', async () => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const serving = { ...server, ca: authority, requestCert: true, maxVersion };
      const tls = { ca: 'ca.pem', cert: 'client.pem', key: 'client.key' };
      expect(await callOverTls(serving, tls)).to.equal('200');
      expect(await callOverTls(serving, { ca: 'ca.pem' })).to.match(/^unavailable/);
    }
  });

  it('ends with the alert of a server that requires a certificate', async () => {
    const serving = { ...server, ca: authority, requestCert: true };
    const upstream = await startProvider(undefined, { tls: serving });
    const { hostname: host, port } = new URL(upstream.url);
    const options = { ca: authority };
    const connector = createConnector({ kind: 'tls', host, port: Number(port), options });
    try {
      const error = await new Promise((resolve) => {
        // TLS 1.3: the server asks for the certificate after the client has connected.
        const socket = connector.open(() => {});
        socket.once('close', () => resolve(socket.errored));
      });
      expect(error).to.have.property('code', 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED');
    } finally {
      connector.close();
      await upstream.stop();
    }
  });

  it('rejects TLS below 1.2', async () => {
    const serving: TlsOptions = {
      ...server,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    };
    expect(await callOverTls(serving, { ca: 'ca.pem' })).to.match(/^unavailable/);
  });

  it('accepts a pinned key among others and rejects a key that is not pinned', async () => {
    const other = Buffer.alloc(32).toString('base64');
    const accepted = [serverPin, [other, serverPin]];
    for (const pin_sha256 of accepted) {
      expect(await callOverTls(server, { ca: 'ca.pem', pin_sha256 })).to.equal('200');
    }
    const answer = await callOverTls(server, { ca: 'ca.pem', pin_sha256: other });
    expect(answer).to.equal('unavailable: no response (ERR_TLS_PIN)');
  });

  it('verifies the certificate in addition to a matching pin', async () => {
    expect(await callOverTls(server, { pin_sha256: serverPin })).to.match(/^unavailable/);
  });

  it('fails as unavailable for a provider without TLS', async () => {
    const upstream = await startProvider();
    const url = upstream.url.replace('http:', 'https:');
    const opened = await openAdapter(httpAdapter, { endpoints: [url] });
    const failure = await failureOf(opened.provider.invoke(createInvocation()));
    expect(failure.failure).to.equal('unavailable');
    await opened.close();
    await upstream.stop();
  });

  it('rejects invalid files without printing them', async () => {
    expect(await refusalOf({ ca: 'notes.txt' })).to.equal('tls.ca must hold a certificate in PEM');
    expect(await refusalOf({ cert: 'client.pem', key: 'notes.txt' })).to.equal(
      'tls.key must hold a private key in PEM without a passphrase',
    );
    expect(await refusalOf({ cert: 'notes.txt', key: 'client.key' })).to.equal(
      'tls.cert must hold a certificate in PEM',
    );
    expect(await refusalOf({ cert: 'client.pem', key: 'server.key' })).to.equal(
      'tls.key must belong to tls.cert',
    );
  });
});
