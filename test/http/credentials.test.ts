import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue, headerValues, type RawHeader } from '../../core/selftest/raw-http.js';
import { type EchoProvider, startEchoProvider } from '../support/echo-provider.js';
import { type Call, call, JSON_TYPE, parseJson } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';
import { type RunningHost, startHost } from '../support/start-host.js';

const TOKEN = 'the-token-of-billing';
const OTHER_TOKEN = 'the-token-of-reports';
const KEY = 'the-key-of-acme';
const COOKIE = 'acme=session-of-ann';
const PUBLIC_URL = 'https://gateway.example';
const APP = 'https://app.example';
const TARGET = '/modules/crm/http/items';

const ROUTES = ['GET', 'POST', 'DELETE'].map((method) => ({
  method,
  path: '/items',
  capability: 'crm.read',
}));

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const token = (id: string, text: string) => ({
  id,
  kind: 'service',
  scopes: ['crm.read', 'modgate.modules.read'],
  sha256: sha256(text),
});

/** Four authenticators; `acme-key` reports what it was asked with. */
const ENTRY = `import { createHmac, timingSafeEqual } from 'node:crypto';
import { defineAuthenticator } from ${JSON.stringify(CONTRACT_URL)};
import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
const actor = (id) => ({ kind: 'service', id, scopes: new Set(['crm.read', 'modgate.modules.read']) });
const define = (name, more, authenticate) => defineAuthenticator({
  name,
  config: any(),
  open: (config, { log }) => ({ name, ...more, authenticate: (given) => authenticate(given, log) }),
});
export default {
  authenticators: [
    define('acme-key', { reads: ['x-acme-key'], challenges: ['ApiKey realm="acme"'] }, (given, log) => {
      const { method, target, headers } = given;
      const given_headers = Object.fromEntries(headers);
      log.info({ method, target, names: [...headers.keys()], seen: headers.get('x-seen'), given_headers }, 'asked');
      return headers.get('x-acme-key')?.[0] === '${KEY}' ? actor('key') : null;
    }),
    define('acme-cookie', { reads: ['cookie'], challenges: ['Session'] }, ({ headers }) => {
      if (headers.get('cookie')?.join().includes('modgate=')) return actor('own-cookie');
      return headers.get('cookie')?.includes('${COOKIE}') ? actor('cookie') : null;
    }),
    define('acme-signed', { reads: ['x-signature'] }, ({ method, target, headers }) => {
      const [bodySha256, signature = ''] = headers.get('x-signature')[0].split('.');
      const text = [method, target, bodySha256].join('\\n');
      const expected = createHmac('sha256', '${KEY}').update(text).digest();
      const given = Buffer.from(signature, 'hex');
      if (given.length !== 32 || !timingSafeEqual(given, expected)) return null;
      return { actor: actor('signed'), bodySha256 };
    }),
    define('acme-basic', { challenges: ['Basic realm="acme"'] }, ({ scheme }) =>
      scheme === 'basic' ? actor('basic') : null),
    define('bad-reads', { reads: ['content-type'] }, () => null),
  ],
};
`;
const NAMES = ['acme-key', 'acme-cookie', 'acme-signed', 'acme-basic'];
function sign(method: string, target: string, body: string): RawHeader {
  const text = [method, target, sha256(body)].join('\n');
  return ['x-signature', `${sha256(body)}.${createHmac('sha256', KEY).update(text).digest('hex')}`];
}

describe('credentials from any header', () => {
  let folder = '';
  let host: RunningHost;
  let provider: EchoProvider;

  const writeConfig = (name: string, ...lines: string[]) => {
    const file = join(folder, name);
    writeFileSync(file, ['plugins: ./plugins', ...lines, ''].join('\n'));
    return file;
  };
  const start = (config: string) =>
    startHost({
      dev: false,
      args: ['--config', config],
      files: {
        'crm.json': describeModule('crm', provider.url, ROUTES, {
          records: { capture_bytes: 4096 },
        }),
        'leaky.json': describeModule('leaky', provider.url, ROUTES, {
          forward_headers: ['X_Acme-Key'],
        }),
      },
    });

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'modgate-credentials-'));
    provider = await startEchoProvider();
    const manifest = { kinds: undefined, authenticators: [...NAMES, 'bad-reads'] };
    writePlugin(join(folder, 'plugins'), { name: 'acme', manifest, entry: ENTRY });
    const tokens = { tokens: [token('billing', TOKEN), token('reports', OTHER_TOKEN)] };
    writeFileSync(join(folder, 'tokens.json'), JSON.stringify(tokens));
    host = await start(
      writeConfig(
        'modgate.yaml',
        'tokens: tokens.json',
        'token-header: x-api-key',
        `public-url: ${PUBLIC_URL}`,
        `cors: { origins: [${APP}], credentials: true }`,
        'authenticators: [tokens, acme-key, acme-cookie, acme-signed]',
      ),
    );
  });

  afterEach(() => provider.reset());

  after(async () => {
    const exit = await host?.stop();
    await provider?.close();
    rmSync(folder, { recursive: true });
    expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  const send = (headers: readonly RawHeader[], given: Partial<Call> = {}) =>
    call(host, { target: TARGET, as: null, ...given, headers });
  const bearer = (text: string): RawHeader => ['authorization', `Bearer ${text}`];
  const actorOf = () => headerValue(provider.only().headers, 'modgate-actor');

  const ACCEPTED: Readonly<Record<string, readonly [actor: string, headers: RawHeader[]]>> = {
    'a bearer token': ['service:billing', [bearer(TOKEN)]],
    'a token in the token header': ['service:billing', [['X-Api-Key', TOKEN]]],
    'the same token in both': ['service:billing', [bearer(TOKEN), ['x-api-key', TOKEN]]],
    'the key of a plugin': ['service:key', [['x-acme-key', KEY]]],
    'the cookie of a plugin': ['service:cookie', [['cookie', COOKIE]]],
    'a cookie beside one of the host': ['service:cookie', [['cookie', `modgate=x; ${COOKIE}`]]],
    'a signature': ['service:signed', [sign('GET', TARGET, '')]],
    'a bearer token and a key': ['service:billing', [bearer(TOKEN), ['x-acme-key', KEY]]],
  };
  for (const [what, [actor, headers]] of Object.entries(ACCEPTED)) {
    it(`accepts ${what}`, async () => {
      const response = await send(headers);
      expect(response.status, response.body.toString()).to.equal(200);
      expect(actorOf()).to.equal(actor);
      const names = provider.only().headers.map(([name]) => name.toLowerCase());
      const own = ['x-api-key', 'x-acme-key', 'cookie', 'authorization', 'x-signature'];
      expect(names).not.to.include.members([own[0]]).and.not.have.any.members(own);
    });
  }

  const DENIED: Readonly<Record<string, readonly [fields: string[], headers: RawHeader[]]>> = {
    'no credentials': [['authorization', 'x-api-key', 'x-acme-key', 'cookie', 'x-signature'], []],
    'only a cookie of the host': [
      ['authorization', 'x-api-key', 'x-acme-key', 'cookie', 'x-signature'],
      [['cookie', '__Host-modgate=x; modgate=y; modgate-oidc=z']],
    ],
    'two different tokens': [
      ['authorization', 'x-api-key'],
      [bearer(TOKEN), ['x-api-key', OTHER_TOKEN]],
    ],
    'a valid bearer token and an empty token header': [
      ['authorization', 'x-api-key'],
      [bearer(TOKEN), ['x-api-key', '']],
    ],
    'two lines of the token header': [
      ['x-api-key'],
      [
        ['x-api-key', TOKEN],
        ['x-api-key', TOKEN],
      ],
    ],
    'two bearer tokens beside a good key': [
      ['authorization'],
      [bearer(TOKEN), bearer(TOKEN), ['x-api-key', TOKEN]],
    ],
    'a malformed authorization beside a good key': [
      ['authorization'],
      [
        ['authorization', 'Bearer'],
        ['x-api-key', TOKEN],
      ],
    ],
    'a scheme in the token header': [['x-api-key'], [['x-api-key', `Bearer ${TOKEN}`]]],
    'another spelling of the token header': [
      ['authorization', 'x-api-key', 'x-acme-key', 'cookie', 'x-signature'],
      [['x_api_key', TOKEN]],
    ],
    'a bearer token in the header of a plugin': [['x-acme-key'], [['x-acme-key', TOKEN]]],
    'an invalid cookie': [['cookie'], [['cookie', 'acme=other']]],
  };
  for (const [what, [fields, headers]] of Object.entries(DENIED)) {
    it(`answers 401 to ${what}, with every challenge`, async () => {
      const response = await send(headers);
      expect(response.status).to.equal(401);
      expect(headerValues(response.headers, 'www-authenticate')).to.deep.equal([
        'Bearer',
        'ApiKey realm="acme"',
        'Session',
      ]);
      const problem = parseJson(response);
      const errors = problem['errors'] as readonly { readonly field: string }[];
      expect(errors.map(({ field }) => field)).to.deep.equal(fields);
      expect(problem['next_actions']).to.deep.equal([
        'send valid credentials in one of these headers: authorization, x-api-key, x-acme-key, cookie, x-signature',
      ]);
      expect(provider.requests).to.have.length(0);
    });
  }

  it('asks an authenticator only for a request with one of its headers', async () => {
    const asked = (seen: string) => host.logs().some((line) => String(line['seen']) === seen);
    await send([
      ['cookie', 'acme=other'],
      ['x-seen', 'cookie'],
    ]);
    await send([
      ['x-acme-key', KEY],
      ['x-seen', 'key'],
    ]);
    await waitUntil('the question', () => asked('key'));
    expect(asked('cookie')).to.equal(false);
  });

  it('passes method, raw target and all headers, in lower case and as sent', async () => {
    const headers: RawHeader[] = [
      ['X-Acme-Key', KEY],
      ['X-Seen', 'two'],
      ['x-seen', 'one'],
      ['Cookie', 'modgate=own'],
    ];
    await send(headers, { method: 'HEAD', target: `${TARGET}?a=%41&b` });
    const find = () => host.logs().find((line) => String(line['seen']) === 'two,one');
    await waitUntil('the question', () => find() !== undefined);
    expect(find()).to.deep.include({
      method: 'HEAD',
      target: `${TARGET}?a=%41&b`,
      names: ['host', 'connection', 'x-acme-key', 'x-seen'],
      seen: ['two', 'one'],
    });
  });

  describe('that cover the body', () => {
    const post = (signed: string, sent: string) =>
      send([JSON_TYPE, sign('POST', TARGET, signed)], { method: 'POST', body: Buffer.from(sent) });

    it('are accepted with that body', async () => {
      expect((await post('{"a":1}', '{"a":1}')).status).to.equal(200);
      expect(provider.only().body.toString()).to.equal('{"a":1}');
    });

    it('are 401 with another body, after the body policy', async () => {
      const response = await post('{"a":1}', '{"a": 1}');
      expect(response.status).to.equal(401);
      expect(parseJson(response)['errors']).to.deep.equal([
        { field: 'body', reason: 'not the body that the credentials cover' },
      ]);
      expect((await post('{"a":1}', '{')).status).to.equal(400);
      expect(provider.requests).to.have.length(0);
    });

    it('are 401 where a body is covered and none is sent', async () => {
      expect((await send([sign('GET', TARGET, '{}')])).status).to.equal(401);
      expect((await send([sign('DELETE', TARGET, '{}')], { method: 'DELETE' })).status).to.equal(
        401,
      );
      expect((await send([sign('DELETE', TARGET, '')], { method: 'DELETE' })).status).to.equal(200);
      const modules = { target: '/modules' };
      expect((await send([sign('GET', '/modules', '{}')], modules)).status).to.equal(401);
      expect((await send([sign('GET', '/modules', '')], modules)).status).to.equal(200);
    });

    it('are compared on the bridge too', async () => {
      const target = '/modules/crm/http/console-bridge/crm.read';
      const body = JSON.stringify({
        moduleReleaseDigest: `sha256:${'0'.repeat(64)}`,
        uiArtifactDigest: `sha256:${'0'.repeat(64)}`,
        permission: 'crm.read',
        payload: { operation: 'modules_metadata' },
      });
      const given = { method: 'POST', target, body: Buffer.from(body) };
      expect((await send([JSON_TYPE, sign('POST', target, body)], given)).status).to.equal(403);
      expect((await send([JSON_TYPE, sign('POST', target, '{}')], given)).status).to.equal(401);
    });
  });

  describe('in a cookie', () => {
    const remove = (...headers: RawHeader[]) =>
      send([['cookie', COOKIE], ...headers], { method: 'DELETE' });

    for (const headers of [
      [['sec-fetch-site', 'same-origin']],
      [['origin', PUBLIC_URL]],
      [['origin', APP]],
    ] as RawHeader[][]) {
      it(`change something with ${headers.join(' ')}`, async () => {
        expect((await remove(...headers)).status).to.equal(200);
      });
    }

    const FORGED: readonly (readonly RawHeader[])[] = [
      [],
      [['origin', 'null']],
      [['origin', 'https://evil.example']],
      [['origin', `${PUBLIC_URL}.evil.example`]],
      [['origin', `${PUBLIC_URL}/`]],
      [['origin', `${PUBLIC_URL}:443`]],
      [['origin', 'http://gateway.example']],
      [
        ['origin', APP],
        ['origin', 'https://evil.example'],
      ],
      [['sec-fetch-site', 'same-site']],
      [['sec-fetch-site', 'none']],
      [['sec-fetch-site', 'cross-site']],
      [['referer', `${PUBLIC_URL}/`]],
    ];
    for (const headers of FORGED) {
      it(`are 403 with ${headers.join(' ') || 'no origin'}`, async () => {
        const response = await remove(...headers);
        expect(response.status).to.equal(403);
        expect(parseJson(response)['detail']).to.match(/pages of a trusted origin/);
        expect(provider.requests).to.have.length(0);
      });
    }

    it('do not count the own address beside a public URL', async () => {
      expect((await remove(['origin', host.url])).status).to.equal(403);
    });

    it('are 403 before an unknown module, and after 401', async () => {
      const target = '/modules/absent/http/x';
      const unknown = await send([['cookie', COOKIE]], { method: 'POST', target });
      expect(unknown.status).to.equal(403);
      expect((await send([['cookie', 'acme=other']], { method: 'POST' })).status).to.equal(401);
    });

    it('read from any page', async () => {
      for (const method of ['GET', 'HEAD']) {
        const response = await send(
          [
            ['cookie', COOKIE],
            ['origin', 'null'],
          ],
          { method },
        );
        expect(response.status).to.equal(200);
      }
    });

    it('are not looked at for a request with other credentials', async () => {
      const response = await send([bearer(TOKEN), ['cookie', COOKIE]], { method: 'DELETE' });
      expect(response.status).to.equal(200);
      expect(actorOf()).to.equal('service:billing');
    });

    it('come with the header that browsers need', async () => {
      const response = await send([
        ['cookie', COOKIE],
        ['origin', APP],
      ]);
      expect(headerValue(response.headers, 'access-control-allow-credentials')).to.equal('true');
    });
  });

  it('rejects a descriptor that forwards one of the headers, in any spelling', async () => {
    const response = await send([bearer(TOKEN)], { target: '/modules/leaky/http/items' });
    expect(response.status).to.equal(404);
    const { modules } = parseJson(await send([bearer(TOKEN)], { target: '/modules' })) as {
      readonly modules: readonly { readonly name: string; readonly reason: string }[];
    };
    expect(modules.find(({ name }) => name === 'leaky')?.reason).to.include(
      'this header holds credentials of callers, which are never forwarded',
    );
  });

  it('leaves no credentials in the log', async () => {
    for (const secret of [TOKEN, OTHER_TOKEN, KEY, COOKIE]) {
      expect(host.output()).not.to.include(secret);
    }
  });

  it('lists only the challenges of configured authenticators', async () => {
    const basic = await start(writeConfig('basic.yaml', 'authenticators: [acme-basic]'));
    try {
      const denied = await call(basic, { target: TARGET, as: null });
      expect(denied.status).to.equal(401);
      expect(headerValues(denied.headers, 'www-authenticate')).to.deep.equal([
        'Basic realm="acme"',
      ]);
      expect(denied.body.toString()).not.to.match(/bearer/i);
      const headers: RawHeader[] = [['authorization', 'Basic YTpi']];
      expect((await call(basic, { target: TARGET, as: null, headers })).status).to.equal(200);
    } finally {
      await basic.stop();
    }
  });

  it('trusts pages of its own address where there is no public URL', async () => {
    const own = await start(writeConfig('own.yaml', 'authenticators: [acme-cookie]'));
    try {
      const remove = (...headers: RawHeader[]) =>
        call(own, {
          method: 'DELETE',
          target: TARGET,
          as: null,
          headers: [['cookie', COOKIE], ...headers],
        });
      const local = `localhost:${own.port}`;
      expect((await remove(['origin', own.url])).status).to.equal(200);
      expect((await remove(['host', local], ['origin', `http://${local}`])).status).to.equal(200);
      const forged: readonly RawHeader[][] = [
        [['origin', `http://${local}`]],
        [['origin', own.url.replace('http:', 'https:')]],
        [['origin', 'http://127.0.0.1:1']],
        [
          ['host', 'evil.example'],
          ['origin', 'http://evil.example'],
        ],
        [
          ['host', '127.0.0.1.evil.example'],
          ['origin', 'http://127.0.0.1.evil.example'],
        ],
        [
          ['origin', 'http://evil.example'],
          ['x-forwarded-host', 'evil.example'],
        ],
      ];
      for (const headers of forged) {
        expect((await remove(...headers)).status, headers.join(' ')).to.equal(403);
      }
    } finally {
      await own.stop();
    }
  });

  it('prevents a start with an authenticator that reads a header of the host', async () => {
    const config = writeConfig('rejected.yaml', 'authenticators: [bad-reads]');
    const error = await start(config).then(
      () => null,
      (reason: Error) => reason.message,
    );
    expect(error).to.include(
      "authenticator 'bad-reads' cannot be used: 'reads[0]' must not be a header with another meaning",
    );
  });
});
