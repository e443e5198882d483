import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type ConnectionOptions, TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { Roles } from '../../../core/auth/roles.js';
import type { Actor } from '../../../core/contract/index.js';
import { ClientCertificates } from '../../../core/http/tls/client-certificates.js';
import { createRecordedLog } from '../../support/auth/recorded-log.js';
import { caller, callers, lateCaller } from '../../support/caller-certificates.js';
import { authority, client as stranger } from '../../support/certificates.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { ask, shakeHands, startTlsHost, type TlsHost } from '../../support/tls/tls-host.js';

const ACTOR: Actor = { kind: 'service', id: 'a', scopes: new Set() };
const READER = { kind: 'service', scopes: ['modgate.modules.read'] };
const NAMES = {
  uri: 'spiffe://modgate.test/caller',
  dns: 'caller.test',
  common_name: 'caller',
  sha256: new X509Certificate(caller.cert).fingerprint256.replaceAll(':', '').toLowerCase(),
};

describe('client certificates', () => {
  let host: TlsHost;
  const know = (...clients: readonly object[]) => host.write('clients.json', { clients });
  const statusOf = async (options: object) => (await ask(host, '/modules', options)).status;
  const expectStatus = (options: object, status: number) =>
    waitUntil(`status ${status}`, async () => (await statusOf(options)) === status);

  const keepSession = async (options: ConnectionOptions): Promise<Buffer> => {
    const socket = await shakeHands(host, options);
    // Since TLS 1.3 it comes after the handshake.
    const session =
      options.maxVersion === 'TLSv1.2' ? socket.getSession() : (await once(socket, 'session'))[0];
    socket.destroy();
    return session as Buffer;
  };

  before(async () => {
    const entry = { id: 'first', ...READER, common_name: 'caller' };
    host = await startTlsHost(
      {
        'callers.pem': callers,
        'clients.json': { clients: [entry] },
        'roles.json': { roles: { support: { scopes: READER.scopes } } },
      },
      (path) => [
        ...['--tls-client-ca', path('callers.pem'), '--tls-clients', path('clients.json')],
        ...['--roles', path('roles.json')],
      ],
    );
  });

  after(() => host.stopAll());

  for (const [name, value] of Object.entries(NAMES)) {
    it(`are accepted by their ${name}`, async () => {
      know({ id: `first of ${name}: ü`, ...READER, [name]: value });
      await expectStatus(caller, 200);
      know({ id: 'first', ...READER, [name]: `${value}x`.slice(-64).replace(/x$/, '0') });
      await expectStatus(caller, 401);
    });
  }

  it('are accepted by a name of DNS in any case, and by no other name in another', async () => {
    know({ id: 'first', ...READER, dns: NAMES.dns.toUpperCase() });
    await expectStatus(caller, 200);
    know({ id: 'first', ...READER, common_name: NAMES.common_name.toUpperCase() });
    await expectStatus(caller, 401);
  });

  it('are matched by the most specific of their names', async () => {
    const { scopes: _, ...none } = READER;
    know(
      { id: 'by-name', ...none, scopes: [], common_name: 'caller' },
      { id: 'by-uri', ...READER, uri: NAMES.uri },
    );
    await expectStatus(caller, 200);
  });

  it('have the scopes of the roles that their entry names', async () => {
    const entry = { id: 'first', kind: 'service', scopes: [], common_name: 'caller' };
    know({ ...entry, roles: ['unknown'] });
    await expectStatus(caller, 403);
    know({ ...entry, roles: ['support'] });
    await expectStatus(caller, 200);
  });

  it('are rejected from another authority or when expired, also beside a token', async () => {
    know(
      { id: 'first', ...READER, common_name: 'caller' },
      { id: 'x', ...READER, common_name: 'client' },
    );
    await expectStatus(caller, 200);
    for (const bad of [stranger, lateCaller]) {
      expect(await statusOf(bad)).to.equal(401);
      expect(await statusOf({ ...bad, token: 'dev-system:root' })).to.equal(401);
    }
  });

  it('are not required with a token', async () => {
    expect(await statusOf({ token: 'dev-system:root' })).to.equal(200);
    expect(await statusOf({})).to.equal(401);
  });

  it('are overridden by a token, valid or not', async () => {
    know({ id: 'first', ...READER, common_name: 'caller' });
    await expectStatus(caller, 200);
    expect(await statusOf({ ...caller, token: 'unknown' })).to.equal(401);
    expect(await statusOf({ ...caller, token: 'dev-service:lacking' })).to.equal(403);
  });

  it('can secure the connection of a client with a token if they have no actor', async () => {
    know();
    await expectStatus(caller, 401);
    expect(await statusOf({ ...caller, token: 'dev-system:root' })).to.equal(200);
  });

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`are accepted in a resumed session of ${maxVersion}`, async () => {
      know({ id: 'first', ...READER, common_name: 'caller' });
      await expectStatus(caller, 200);
      // A resumed session has the certificate of the first one.
      const session = await keepSession({ ...caller, maxVersion });
      expect((await ask(host, '/modules', { session, maxVersion })).status).to.equal(200);
      const strange = await keepSession({ ...stranger, maxVersion });
      expect((await ask(host, '/modules', { session: strange, maxVersion })).status).to.equal(401);
    });
  }

  it('are not accepted in the authorization header', async () => {
    know({ id: 'first', ...READER, common_name: 'caller' });
    await expectStatus(caller, 200);
    const text = Buffer.from(caller.cert).toString('base64');
    expect(await statusOf({ token: text })).to.equal(401);
  });

  it('stop serving on open connections when their authority is withdrawn', async () => {
    know({ id: 'first', ...READER, common_name: 'caller' });
    await expectStatus(caller, 200);
    const session = await keepSession(caller);
    // First, since a timeout would close it before the other.
    const without = await shakeHands(host);
    const withCertificate = await shakeHands(host, caller);
    const closed = once(
      withCertificate.on('error', () => {}),
      'close',
    );
    host.write('callers.pem', authority);
    await closed;
    expect(without.destroyed, 'a connection without a certificate').to.equal(false);
    without.destroy();
    expect(await statusOf(caller)).to.equal(401);
    expect(await statusOf({ ...caller, session }), 'a resumed session').to.equal(401);
    host.write('callers.pem', callers);
    await expectStatus(caller, 200);
  });

  it('are reloaded with their file, keeping the last good version', async () => {
    host.write('clients.json', '{"clients":[{"id":"x"}]}');
    await waitUntil('a word', () => /file of client certificates is invalid/.test(host.output()));
    expect(await statusOf(caller)).to.equal(200);
  });
});

describe('client certificate of a long-lived connection', () => {
  it('is accepted until it expires', () => {
    const verify = (validTo: number) => {
      const certificates = new ClientCertificates(
        () => new Map([['common_name:a', ACTOR]]),
        Roles.none(createRecordedLog().log),
      );
      // A fake socket with the properties that are read: the test cannot wait for an expiry.
      const socket = Object.assign(Object.create(TLSSocket.prototype), {
        authorized: true,
        getPeerCertificate: () => ({
          raw: Buffer.alloc(1),
          subject: { CN: 'a' },
          fingerprint256: 'AA',
          valid_to: new Date(validTo).toUTCString(),
        }),
      });
      return certificates.verify(socket);
    };
    expect(verify(Date.now() + 60_000)).to.equal(ACTOR);
    expect(verify(Date.now() - 60_000)).to.equal('rejected');
  });
});
