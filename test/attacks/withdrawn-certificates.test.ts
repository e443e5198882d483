import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { rights } from '../../core/operations/right-watch.js';
import { caller, callers } from '../support/caller-certificates.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { type StreamingProvider, startStreamingProvider } from '../support/streaming-provider.js';
import { ask, shakeHands, startTlsHost, type TlsHost } from '../support/tls/tls-host.js';

const PART = 'x'.repeat(2000);
const BYTES = { response: 'bytes' };
const UPLOAD = { body: 'bytes' };
const ENTRY = { id: 'first', kind: 'service', scopes: ['files.use'], common_name: 'caller' };

describe('attack: a caller goes on after its certificate was removed', () => {
  let host: TlsHost;
  let provider: StreamingProvider;

  before(async () => {
    // Begins each download, and ends none; answers no upload.
    provider = await startStreamingProvider(({ method }, response) => {
      if (method === 'POST') return;
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.write(PART);
    });
    const routes = [
      { method: 'GET', path: '/bytes', capability: 'files.use', operation: BYTES },
      { method: 'POST', path: '/upload', capability: 'files.use', operation: UPLOAD },
    ];
    host = await startTlsHost(
      {
        'callers.pem': callers,
        'clients.json': { clients: [ENTRY] },
        'modules.d/files.json': describeModule('files', provider.url, routes),
      },
      (path) => ['--tls-client-ca', path('callers.pem'), '--tls-clients', path('clients.json')],
    );
  });

  after(async () => {
    await host.stopAll();
    await provider.stop();
  });

  const open = async (lines: readonly string[]) => {
    const socket: TLSSocket = await shakeHands(host, caller);
    const transfer = { socket, text: '', isEnded: false };
    socket
      .on('error', () => {})
      .on('close', () => {
        transfer.isEnded = true;
      });
    socket.setEncoding('latin1').on('data', (part) => {
      transfer.text += part;
    });
    socket.write([...lines, 'host: localhost', '', ''].join('\r\n'));
    return transfer;
  };

  it('is cut, and an upload is 401, unlike by a weakened host', async () => {
    const download = await open(['GET /modules/files/http/bytes HTTP/1.1']);
    await waitUntil('the download begins', () => download.text.includes(PART));
    const head = ['POST /modules/files/http/upload HTTP/1.1', 'content-type: text/plain'];
    const upload = await open([...head, 'content-length: 5000']);
    upload.socket.write(PART);
    await waitUntil('the upload begins', () => provider.sockets.size === 2);
    await rights.checkAll();
    expect([download.isEnded, upload.text]).to.deep.equal([false, '']);
    host.write('clients.json', { clients: [] });
    await waitUntil(
      'it is rejected',
      async () => (await ask(host, '/modules', caller)).status === 401,
    );
    // A weakened host checks no right again.
    expect([download.isEnded, upload.text]).to.deep.equal([false, '']);
    const isClosed = once(download.socket, 'close');
    await rights.checkAll();
    await isClosed;
    await waitUntil('the upload is answered', () => upload.text.includes('\r\n\r\n'));
    expect(upload.text).to.match(/^HTTP\/1\.1 401 /);
    upload.socket.destroy();
  });
});
