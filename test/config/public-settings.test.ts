import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../core/config/read-config.js';
import { createFolder } from '../support/temporary-folder.js';

const APP = 'https://app.example';

describe('settings of how clients reach the host', () => {
  let folder = '';

  before(() => {
    folder = createFolder();
  });

  const read = async (lines: string, flags: object = {}) => {
    const config = join(folder, 'modgate.yaml');
    writeFileSync(config, `${lines}\n`);
    const names = ['cors', 'publicUrl', 'tokenHeader'] as const;
    return (await readConfig(names, { flags: { config, ...flags }, environment: {} })).config;
  };
  const readError = async (lines: string, flags: object = {}): Promise<string> => {
    try {
      await read(lines, flags);
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('the settings were accepted');
  };

  it('are read from the file', async () => {
    const lines = [
      'public-url: https://gateway.example',
      'token-header: X-Api-Key',
      `cors: { origins: [${APP}], headers: [X-Tenant], max_age_s: 0, credentials: true }`,
    ];
    expect(await read(lines.join('\n'))).to.deep.equal({
      publicUrl: 'https://gateway.example',
      tokenHeader: 'x-api-key',
      cors: { origins: [APP], headers: ['x-tenant'], maxAgeSeconds: 0, credentials: true },
    });
  });

  it('have defaults', async () => {
    const { cors, publicUrl, tokenHeader } = await read(`cors: { origins: [${APP}] }`);
    expect(cors).to.deep.equal({
      origins: [APP],
      headers: [],
      maxAgeSeconds: 600,
      credentials: false,
    });
    expect([publicUrl, tokenHeader]).to.deep.equal([null, null]);
  });

  it('accept origins as a flag', async () => {
    const { cors } = await read('{}', { cors: `${APP},http://localhost:8080` });
    expect(cors?.origins).to.deep.equal([APP, 'http://localhost:8080']);
    for (const origin of [
      'capacitor://localhost',
      'tauri://localhost',
      'chrome-extension://abcdefghijklmnop',
      'moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc',
      'app://my-app:8080',
    ]) {
      expect((await read('{}', { cors: origin })).cors?.origins).to.deep.equal([origin]);
    }
    for (const origin of [
      'file://localhost',
      'data://a',
      'capacitor://*',
      'capacitor://',
      'Capacitor://localhost',
      'capacitor://localhost/',
      'capacitor://me@localhost',
      'app://my-app:0',
      'localhost',
    ]) {
      expect(await readError('{}', { cors: origin }), origin).to.match(/^--cors must be exact/);
    }
    expect(await readError('{}', { cors: '*' })).to.match(/^--cors must be exact origins/);
  });

  const REJECTED: Readonly<Record<string, readonly [lines: string, message: RegExp]>> = {
    'a wildcard': ['cors: { origins: ["*"] }', /'origins\[0\]' must be an origin such as/],
    'a wildcard in the host': [
      'cors: { origins: ["https://*.app.example"] }',
      /'origins\[0\]' must be an origin such as/,
    ],
    'the origin null': ['cors: { origins: ["null"] }', /'origins\[0\]' must be an origin/],
    'an origin with a path': [`cors: { origins: ["${APP}/"] }`, /'origins\[0\]' must be/],
    'an origin in upper case': ['cors: { origins: ["https://APP.example"] }', /must be an origin/],
    'a default port': ['cors: { origins: ["https://app.example:443"] }', /must be an origin/],
    'no origins': ['cors: { origins: [] }', /'origins' must be a list of 1 to 100/],
    'an origin twice': [`cors: { origins: [${APP}, ${APP}] }`, /distinct origins/],
    'an unknown key': [`cors: { origins: [${APP}], header: [] }`, /unknown key 'header'/],
    'a wildcard header': [`cors: { origins: [${APP}], headers: ["*"] }`, /'headers\[0\]' must be/],
    'a list': [`cors: [${APP}]`, /must be exact origins/],
  };
  for (const [title, [lines, message]] of Object.entries(REJECTED)) {
    it(`reject ${title}`, async () => {
      expect(await readError(lines)).to.match(message);
    });
  }

  for (const url of ['gateway.example', 'ftp://gateway.example', `${APP}/`, `${APP}/x`, 'null']) {
    it(`reject the public URL ${url}`, async () => {
      expect(await readError(`public-url: "${url}"`)).to.match(/must be an origin such as/);
    });
  }

  const NAMES = ['authorization', 'Cookie', 'content-type', 'x-request-id', 'modgate_actor', 'a b'];
  for (const name of [...NAMES, 'host', 'idempotency_key', '*', 'sec-fetch-site']) {
    it(`reject the token header '${name}'`, async () => {
      expect(await readError(`token-header: "${name}"`)).to.match(
        /must be the name of a separate header/,
      );
    });
  }
});
