import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { SurfaceError } from '../../../core/contract/index.js';
import { type Bundle, readBundle } from '../../../plugins/shared/bundle.js';
import { servePages } from '../../../plugins/shared/serve-pages.js';
import { createFolder } from '../../support/temporary-folder.js';

const INDEX = '<!doctype html><title>console</title>';
const SCRIPT = 'console.log(1);';
const SCRIPT_PATH = '/console/assets/app.1234.js';

describe('the pages of a surface', () => {
  let folder: string;
  let plugin: string;
  let bundle: Bundle | null;

  before(() => {
    folder = createFolder();
    plugin = pathToFileURL(join(folder, 'index.js')).href;
    mkdirSync(join(folder, 'web/assets'), { recursive: true });
    write('index.html', INDEX);
    write('assets/app.1234.js', SCRIPT);
    bundle = readBundle(plugin);
  });

  const write = (name: string, content: string | Uint8Array) =>
    writeFileSync(join(folder, 'web', name), content);

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    servePages(
      { prefix: '/console', bundle },
      new Request(`http://localhost${path}`, { headers, method }),
    );

  it('are one document for every path, which a cache has to validate', async () => {
    for (const path of ['/console', '/console/modules', '/console/modules/acme%2Fcrm']) {
      const response = get(path);
      expect(await response.text()).to.equal(INDEX);
      expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(response.headers.get('content-length')).to.equal(String(INDEX.length));
      expect(response.headers.get('cache-control')).to.equal('no-cache');
    }
  });

  it('have files that a cache keeps', () => {
    const { headers } = get(SCRIPT_PATH);
    expect(headers.get('cache-control')).to.equal('max-age=31536000, immutable');
    expect(headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(headers.get('content-length')).to.equal(String(SCRIPT.length));
  });

  it('are compressed as the browser accepts it', async () => {
    const ask = (accepted: string) => get(SCRIPT_PATH, { 'accept-encoding': accepted });
    const compressed = ask('gzip, deflate, br');
    expect(compressed.headers.get('content-encoding')).to.equal('gzip');
    const bytes = Buffer.from(await compressed.arrayBuffer());
    expect(compressed.headers.get('content-length')).to.equal(String(bytes.length));
    expect(gunzipSync(bytes).toString()).to.equal(SCRIPT);
    expect(ask('identity').headers.get('content-encoding')).to.equal(null);
    expect(ask('gzip').headers.get('vary')).to.equal('accept-encoding');
  });

  const ACCEPTED: Readonly<Record<string, boolean>> = {
    '': false,
    ',': false,
    gzip: true,
    'br, gzip': true,
    ' GZIP ,\tBr ': true,
    'X-Gzip': true,
    'gzip;q=0': false,
    'br, gzip;q=0.001': true,
    'br;q=0.8, gzip;q=0.5': true,
    'BR ; Q=0.5 , gzip ; q=0.5': true,
    '*': true,
    '*;q=0': false,
    '*;q=0, gzip': true,
    'gzip;q=0, *': false,
    '*;q=0.1, gzip;q=0': false,
    'identity, gzip': true,
    'identity;q=1, gzip;q=0.9': false,
    'identity;q=0, gzip;q=0.1': true,
    'identity;q=0': false,
    'gzip;q=0, gzip': false,
    'gzip;q=2, br': false,
    'gzip;q=0.0001': false,
    'gzip;level=1': false,
    'gzip;q=1;q=1': false,
    'gzipped, xgzip, g z': false,
    constructor: false,
    br: false,
  };

  it('are compressed unless the content as it is has the greater weight', () => {
    for (const [accepted, isAccepted] of Object.entries(ACCEPTED)) {
      const { headers } = get(SCRIPT_PATH, { 'accept-encoding': accepted });
      expect(headers.get('content-encoding'), accepted).to.equal(isAccepted ? 'gzip' : null);
    }
    expect(get(SCRIPT_PATH).headers.get('content-encoding')).to.equal(null);
  });

  it('have the policy against foreign content and frames', () => {
    for (const path of ['/console', SCRIPT_PATH]) {
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

  it('do not include other files', () => {
    for (const name of ['app.1234.js.gz', '%2e%2e%2findex.html', 'constructor', '', 'app.js']) {
      expect(() => get(`/console/assets/${name}`), name).to.throw(SurfaceError, 'no such path');
    }
    expect(() => get('/console', {}, 'POST')).to.throw(SurfaceError, 'does not support');
  });

  it('have a digest that changes with each file', () => {
    const before = bundle?.digest;
    expect(before).to.match(/^sha256:[0-9a-f]{64}$/);
    write('assets/app.1234.js', 'other');
    expect(readBundle(plugin)?.digest).to.not.equal(before);
  });

  it('have at most 600 files', () => {
    for (let number = 0; number <= 600; number += 1) write(`assets/${number}.js`, '');
    expect(() => readBundle(plugin)).to.throw('more than 600 files');
  });

  it('are unavailable where they are not built', () => {
    const absent = readBundle(pathToFileURL(join(folder, 'other/index.js')).href);
    expect(absent).to.equal(null);
    const request = new Request('http://localhost/console');
    expect(() => servePages({ prefix: '/console', bundle: absent }, request))
      .to.throw(SurfaceError, 'not built')
      .with.property('code', 'unavailable');
  });
});
