import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { SurfaceError } from '../../../core/contract/index.js';
import { type Bundle, readBundle } from '../../../plugins/console/pages/bundle.js';
import { servePages } from '../../../plugins/console/pages/serve-pages.js';

const INDEX = '<!doctype html><title>console</title>';
const SCRIPT = 'console.log(1);';

describe('the pages of the console', () => {
  let folder: string;
  let bundle: Bundle | null;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'modgate-pages-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), INDEX);
    writeFileSync(join(folder, 'assets/app.1234.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/app.1234.js.br'), brotliCompressSync(SCRIPT));
    writeFileSync(join(folder, 'assets/app.1234.js.gz'), gzipSync(SCRIPT));
    bundle = readBundle(folder);
  });

  after(() => rmSync(folder, { recursive: true }));

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    servePages(bundle, new Request(`http://localhost${path}`, { headers, method }), path);

  it('are one document for every path, which is never kept without asking', async () => {
    for (const path of ['/console', '/console/modules', '/console/modules/acme%2Fcrm']) {
      const response = get(path);
      expect(await response.text()).to.equal(INDEX);
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).to.equal('no-cache');
    }
  });

  it('have files that are kept for ever', () => {
    const { headers } = get('/console/assets/app.1234.js');
    expect(headers.get('cache-control')).to.equal('max-age=31536000, immutable');
    expect(headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
  });

  it('are compressed as the browser accepts it', async () => {
    const path = '/console/assets/app.1234.js';
    const ask = (accepted: string) => get(path, { 'accept-encoding': accepted });
    const brotli = ask('gzip, deflate, br');
    expect(brotli.headers.get('content-encoding')).to.equal('br');
    const bytes = Buffer.from(await brotli.arrayBuffer());
    expect(brotliDecompressSync(bytes).toString()).to.equal(SCRIPT);
    expect(ask('gzip').headers.get('content-encoding')).to.equal('gzip');
    expect(ask('br;q=0, gzip').headers.get('content-encoding')).to.equal('gzip');
    expect(ask('identity').headers.get('content-encoding')).to.equal(null);
    expect(ask('gzip').headers.get('vary')).to.equal('accept-encoding');
  });

  it('have the policy against foreign content and frames', () => {
    for (const path of ['/console', '/console/assets/app.1234.js']) {
      const { headers } = get(path);
      expect(headers.get('content-security-policy')).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
          "img-src 'self' data:; font-src 'self'; form-action 'self'; base-uri 'none'; " +
          "frame-ancestors 'none'; require-trusted-types-for 'script'",
      );
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin');
    }
  });

  it('are no other files', () => {
    for (const name of ['app.1234.js.br', '../index.html', 'constructor', '', 'app.js']) {
      expect(() => get(`/console/assets/${name}`), name).to.throw(SurfaceError, 'no such path');
    }
    expect(() => get('/console', {}, 'POST')).to.throw(SurfaceError, 'does not support');
  });

  it('have a digest that changes with each file', () => {
    const before = readBundle(folder)?.digest;
    expect(before).to.match(/^sha256:[0-9a-f]{64}$/);
    writeFileSync(join(folder, 'assets/app.1234.js.br'), 'other');
    expect(readBundle(folder)?.digest).to.equal(before);
    writeFileSync(join(folder, 'assets/app.1234.js'), 'other');
    expect(readBundle(folder)?.digest).to.not.equal(before);
  });

  it('are absent where they are not built', () => {
    expect(readBundle(join(folder, 'nowhere'))).to.equal(null);
    const request = new Request('http://localhost/console');
    expect(() => servePages(null, request, '/console')).to.throw(SurfaceError, 'not built');
  });
});
