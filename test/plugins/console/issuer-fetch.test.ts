import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { SurfaceCall, SurfaceContext } from '../../../core/contract/index.js';
import { fetchFromIssuer, OidcClient } from '../../../plugins/console/sign-in/oidc-client.js';
import { OidcIssuers } from '../../../plugins/console/sign-in/oidc-issuers.js';
import { OidcSignIn } from '../../../plugins/console/sign-in/oidc-sign-in.js';
import type { SignIn } from '../../../plugins/console/sign-in/sign-in.js';

const LONGEST = 256 * 1024;
const OPTIONS = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const;

describe('requests of the console to an issuer', () => {
  let server: Server;
  let url: string;
  let sent = 0;
  let isClosed: Promise<unknown>;

  before((done) => {
    server = createServer((request, response) => {
      isClosed = new Promise((resolve) => response.on('close', resolve));
      expect(request.headers['accept-encoding']).to.equal('identity');
      if (request.url === '/bomb') {
        response.setHeader('content-encoding', 'gzip');
        response.end(gzipSync(Buffer.alloc(LONGEST * 100)));
      } else if (request.url === '/endless') {
        const write = () => {
          while (!response.destroyed && response.write(Buffer.alloc(LONGEST))) sent += LONGEST;
        };
        response.on('drain', write);
        write();
      } else if (request.url?.startsWith('/missing/') === true) {
        response.writeHead(404).end();
      } else if (request.url?.includes('/.well-known/') === true) {
        const issuer = `${url}/${request.url.includes('long') ? 'long' : 'short'}`;
        const more = issuer.endsWith('long') ? ' '.repeat(LONGEST) : '';
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ issuer, authorization_endpoint: `${url}/a` }) + more);
      } else if (request.url === '/none') {
        response.writeHead(204).end();
      } else {
        response.writeHead(203, { 'x-a': 'b' }).end(Buffer.alloc(Number(request.url?.slice(1))));
      }
    }).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });

  after((done) => {
    server.close(done);
    server.closeAllConnections();
  });

  const reject = (path: string) =>
    fetchFromIssuer(url + path, OPTIONS).then(
      () => null,
      (error: Error) => error.message,
    );

  it('keep status, headers and body of a response of at most 256 KiB', async () => {
    const response = await fetchFromIssuer(`${url}/${LONGEST}`, OPTIONS);
    expect([response.status, response.headers.get('x-a')]).to.deep.equal([203, 'b']);
    expect((await response.arrayBuffer()).byteLength).to.equal(LONGEST);
    expect((await fetchFromIssuer(`${url}/none`, OPTIONS)).status).to.equal(204);
  });

  it('reject a longer response, also one that is longer only when it is decompressed', async () => {
    for (const path of [`/${LONGEST + 1}`, '/bomb']) {
      expect(await reject(path)).to.equal('the response of the issuer exceeds 256 KiB');
    }
  });

  it('are those of the metadata too', async () => {
    const begin = (name: string) =>
      new OidcClient({ issuer: `${url}/${name}`, client_id: 'console' }, null, true)
        .begin('http://127.0.0.1:1/callback')
        .then(
          ({ url: { pathname } }) => pathname,
          () => null,
        );
    expect([await begin('short'), await begin('long')]).to.deep.equal(['/a', null]);
  });

  it('are logged at most once a second when they fail', async () => {
    const lines: string[] = [];
    const write = (_fields: object, message: string) => lines.push(message);
    const log = { debug: write, info: write, warn: write, error: write };
    const issuer = `${url}/missing`;
    const context = { log, issuers: [issuer] } as unknown as SurfaceContext;
    const issuers = new OidcIssuers([{ issuer, client_id: 'console' }], context);
    const signIn = new OidcSignIn(issuers, context.records, {} as SignIn);
    const request = new Request(`http://127.0.0.1/start?issuer=${encodeURIComponent(issuer)}`);
    const call = { origin: 'http://127.0.0.1' } as SurfaceCall;
    const startedAt = performance.now();
    for (let count = 0; count < 20; count += 1) {
      const { headers } = await signIn.start(request, call);
      expect(headers.get('location')).to.equal('/console?sign_in=unavailable');
    }
    const seconds = Math.ceil((performance.now() - startedAt) / 1000);
    expect(lines.length).to.be.within(1, seconds);
    expect(lines[0]).to.equal('issuer does not answer');
  });

  it('close the connection of a response without end', async () => {
    expect(await reject('/endless')).to.equal('the response of the issuer exceeds 256 KiB');
    await isClosed;
    expect(sent).to.be.below(100 * LONGEST);
  });
});
