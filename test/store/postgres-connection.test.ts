import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { authority, elsewhere, server as localhost } from '../support/certificates.js';
import { openStore } from '../support/store/open-store.js';
import { createFolder } from '../support/temporary-folder.js';
import { silent } from './backend.js';
import { expectUnavailable, readValue } from './drafts.js';

/** Answers the request for TLS, which precedes everything else, and nothing more. */
const withoutTls = (socket: Socket) => void socket.once('data', () => socket.write('N'));

const withCertificate = (certificate: typeof localhost) => (socket: Socket) => {
  socket.once('data', () => {
    socket.write('S');
    new TLSSocket(socket, { isServer: true, ...certificate }).on('error', () => {});
  });
};

/** `ErrorResponse` with a SQLSTATE, as the answer to the startup message. */
const withError = (code: string) => (socket: Socket) => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mfor hunter2\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  socket.once('data', () => socket.end(Buffer.concat([head, fields])));
};

describe('a connection to PostgreSQL that fails', () => {
  let server: Server;
  afterEach(() => server.close());

  async function reasonOf(answer: (socket: Socket) => void, query = ''): Promise<string> {
    server = createServer((socket) => answer(socket.on('error', () => {})));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `postgres://u:hunter2@127.0.0.1:${port}/app${query}`;
    const store = await openStore({ url, stateDir: '', keys: null, log: silent });
    try {
      return (await expectUnavailable(readValue(store, 'crm'), 'unreachable')).message;
    } finally {
      await store.close();
    }
  }

  for (const mode of ['prefer', 'require']) {
    it(`names the missing TLS of the server with sslmode=${mode}`, async () => {
      expect(await reasonOf(withoutTls, `?sslmode=${mode}`)).to.equal(
        'the database server has no TLS: with sslmode=disable the host connects without it',
      );
    });
  }

  it('names a certificate of an unknown authority', async () => {
    expect(await reasonOf(withCertificate(localhost), '?sslmode=require')).to.match(
      /^the certificate of the database server is from an unknown authority: name it with sslrootcert \(UNABLE_/,
    );
  });

  it('names a certificate for another name', async () => {
    const ca = join(createFolder(), 'ca.pem');
    writeFileSync(ca, authority);
    const query = `?sslmode=verify-full&sslrootcert=${ca}`;
    expect(await reasonOf(withCertificate(elsewhere), query)).to.equal(
      'the certificate of the database server is for another name (ERR_TLS_CERT_ALTNAME_INVALID)',
    );
  });

  it('names the limit of connections', async () => {
    expect(await reasonOf(withError('53300'))).to.equal(
      'the database server has no free connection: raise max_connections, or use a pooler (53300)',
    );
  });
});
