import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { expect } from 'chai';
import { isProxied } from '../../core/contract/outgoing-proxy.js';
import { fetchBounded } from '../../core/document/bounded-fetch.js';
import { createIssuerFetch } from '../../plugins/shared/issuer-fetch.js';
import { authority, elsewhere, server } from '../support/certificates.js';
import { runModgate } from '../support/cli/run-modgate.js';
import { createSigningKey, ISSUER, signToken } from '../support/fake-issuer.js';
import { call } from '../support/http/call.js';
import { buildManifest, describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { setVariables } from '../support/open-host.js';
import { answerJson, startProvider } from '../support/provider.js';
import { type RunningHost, startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const TARGET = '/modules/crm/http/items';
const SITE = 'https://elsewhere.example';
const TUNNEL = 'elsewhere.example:443 ann:s x';
const PLAIN = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const;
const THROUGH = 'through the proxy of HTTPS_PROXY';

const listen = async <T extends Server>(listening: T): Promise<T> => {
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  return listening;
};
const portOf = (listening: Server) => (listening.address() as AddressInfo).port;

describe('the proxy of the environment', () => {
  const key = use(() => createSigningKey('first'));
  let redirects = false;
  /** An issuer, a host and manifests at `elsewhere.example`. */
  const site = use(
    () => {
      const answers: Readonly<Record<string, object>> = {
        '/jwks': { keys: [key.jwk] },
        '/introspect': { active: true, sub: 'opaque', scope: 'crm.read' },
        '/token': { access_token: 'from-issuer', token_type: 'Bearer', expires_in: 3600 },
        '/.well-known/openid-configuration': {
          issuer: SITE,
          authorization_endpoint: `${SITE}/authorize`,
          token_endpoint: `${SITE}/token`,
          jwks_uri: `${SITE}/jwks`,
        },
        '/modules': { modules: [], ignored: [] },
        '/m.json': buildManifest('crm', ROUTES),
      };
      return listen(
        createTlsServer(elsewhere, ({ url = '' }, response) => {
          const location = { location: `${SITE}/other` };
          response.writeHead(redirects ? 302 : 200, {
            'content-type': 'application/json',
            ...(redirects && location),
          });
          response.end(JSON.stringify(answers[url] ?? {}));
        }),
      );
    },
    (secure) => secure.close(),
  );
  let carried: string[] = [];
  let accepts = true;
  let onTunnel: ((socket: Duplex) => void) | null = null;
  const carry = (request: IncomingMessage, socket: Duplex) => {
    const credentials = request.headers['proxy-authorization']?.replace('Basic ', '') ?? '';
    carried.push(`${request.url} ${Buffer.from(credentials, 'base64')}`.trim());
    if (onTunnel !== null) return onTunnel(socket);
    if (!accepts) return socket.end('HTTP/1.1 407 No\r\n\r\n');
    const target = connect(portOf(site), '127.0.0.1');
    for (const one of [socket, target]) one.on('error', () => {});
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(target).pipe(socket);
  };
  const startProxy = (create: () => ReturnType<typeof createServer>) =>
    use(
      () => {
        const proxy = create().on('connect', carry);
        return listen(
          proxy.on('request', (request, response) => {
            carried.push(`${request.method} ${request.url}`);
            response.end();
          }),
        );
      },
      (proxy) => {
        proxy.close();
        proxy.closeAllConnections();
      },
    );
  const proxy = startProxy(() => createServer());
  const secureProxy = startProxy(() => createTlsServer(server));
  const falseProxy = startProxy(() => createTlsServer(elsewhere));
  const upstream = use(() =>
    startProvider(answerJson({ access_token: 'own', token_type: 'Bearer', expires_in: 60 })),
  );

  beforeEach(() => {
    carried = [];
    accepts = true;
    redirects = false;
    onTunnel = null;
  });

  const folder = createFolder({ 'ca.pem': authority });
  const run = async (
    environment: Readonly<Record<string, string>>,
    test: (host: RunningHost) => Promise<void>,
    overrides: object = {},
  ) => {
    const trusted = {
      audience: 'modgate',
      algorithms: ['RS256'],
      jwks: { url: `${SITE}/jwks` },
      actor: { kind: 'service' },
    };
    const introspection = [
      {
        name: 'login',
        url: `${SITE}/introspect`,
        client_id: 'modgate',
        client_secret: 'env:LOGIN_SECRET',
        actor: { kind: 'service' },
      },
    ];
    const issuers = [ISSUER, SITE].map((issuer) => ({ issuer, ...trusted }));
    const oidc = [{ issuer: SITE, client_id: 'console' }];
    const files = createFolder({
      'issuers.json': JSON.stringify({ issuers, introspection }),
      'modgate.yaml': JSON.stringify({ issuers: 'issuers.json', surfaces: { console: { oidc } } }),
    });
    const host = await startHostProcess({
      args: ['--config', join(files, 'modgate.yaml')],
      env: {
        LOGIN_SECRET: 'x',
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
        ...environment,
      },
      files: { 'crm.json': describeModule('crm', upstream.url, ROUTES, overrides) },
    });
    try {
      await test(host);
    } finally {
      await host.stop();
    }
  };
  const url = () => `http://ann:s%20x@127.0.0.1:${portOf(proxy)}`;
  const get = async (host: RunningHost, as: string) =>
    (await call(host, { target: TARGET, as, isUndescribed: true })).status;
  const signIn = async (host: RunningHost) => {
    const start = `${host.url}/console/api/oidc/start?issuer=${encodeURIComponent(SITE)}`;
    return (await fetch(start, { redirect: 'manual' })).headers.get('location') ?? '';
  };
  const oauth2 = (tokenUrl: string) => ({
    token_url: tokenUrl,
    client_id: 'me',
    client_secret: 'env:LOGIN_SECRET',
  });
  const withTokens = (tokenUrl: string) => ({
    provider: {
      kind: 'http',
      config: { endpoints: [upstream.url], auth: { oauth2: oauth2(tokenUrl) } },
    },
  });

  it('carries requests for keys and introspections', async () => {
    await run({ HTTPS_PROXY: url() }, async (host) => {
      expect(await get(host, await signToken(key))).to.equal(200);
      expect(await get(host, 'opaque-token')).to.equal(200);
    });
    expect(new Set(carried)).to.deep.equal(new Set([TUNNEL]));
  });

  it('carries sign-ins, and requests for tokens of providers', async () => {
    const test = async (host: RunningHost) => {
      expect(await signIn(host)).to.match(/^https:\/\/elsewhere\.example\/authorize\?/);
      expect(await get(host, await signToken(key))).to.equal(200);
    };
    await run({ https_proxy: url(), HTTPS_PROXY: 'x:' }, test, withTokens(`${SITE}/token`));
    expect(upstream.requests.at(-1)?.headers.authorization).to.equal('Bearer from-issuer');
    expect(new Set(carried)).to.deep.equal(new Set([TUNNEL]));
  });

  it('carries requests for manifests', async () => {
    const test = async (host: RunningHost) => {
      const token = await signToken(key);
      await waitUntil('the module', async () => (await get(host, token)) === 200);
    };
    await run({ HTTPS_PROXY: url() }, test, { manifest: { url: `${SITE}/m.json` } });
    expect(new Set(carried)).to.deep.equal(new Set([TUNNEL]));
  });

  it('carries no http URLs, and is not named for them', async () => {
    const environment = { HTTPS_PROXY: url(), HTTP_PROXY: url(), http_proxy: url() };
    const test = async (host: RunningHost) => {
      await waitUntil('the failure', async () => host.output().includes('could not be reached'));
      expect(host.output()).not.to.include(THROUGH);
    };
    await run(environment, test, { manifest: { url: 'http://elsewhere.example/m.json' } });
    expect(carried.filter((line) => line !== TUNNEL)).to.deep.equal([]);
  });

  it('carries nothing to hosts of NO_PROXY, and is not named for them', async () => {
    await run({ HTTPS_PROXY: url(), NO_PROXY: '.example' }, async (host) => {
      expect(await get(host, await signToken(key))).to.equal(503);
      expect(await signIn(host)).to.equal('/console?sign_in=unavailable');
      expect(host.output()).to.include('cannot be reached').and.not.to.include(THROUGH);
    });
    expect(carried).to.deep.equal([]);
  });

  it('is named where it rejects a request', async () => {
    accepts = false;
    await run({ HTTPS_PROXY: url() }, async (host) => {
      expect(await get(host, await signToken(key))).to.equal(503);
      expect(host.output()).to.include(THROUGH);
      expect(host.output()).not.to.include('s%20x').and.not.to.include('s x');
    });
  });

  it('fails by name if it cannot be used, but only requests that need it', async () => {
    const HTTPS_PROXY = 'socks5h://ann:s3cret@127.0.0.1:9';
    const test = async (host: RunningHost) => {
      const line = host.logs().find(({ msg }) => msg === 'proxy cannot be used');
      expect(line).to.include({ variable: 'HTTPS_PROXY' });
      expect(await get(host, 'dev-service:me:crm.read')).to.equal(200);
      expect(upstream.requests.at(-1)?.headers.authorization).to.equal('Bearer own');
      expect(await get(host, await signToken(key))).to.equal(503);
      expect(await signIn(host)).to.equal('/console?sign_in=unavailable');
      expect(host.output()).to.include('(HTTPS_PROXY_UNUSABLE)').and.not.to.include('s3cret');
    };
    await run({ HTTPS_PROXY }, test, withTokens(`${upstream.url}/token`));
  });

  it('is verified if it has TLS, whatever NODE_TLS_REJECT_UNAUTHORIZED says', async () => {
    const test = (status: number) => async (host: RunningHost) => {
      expect(await get(host, await signToken(key))).to.equal(status);
      expect((await signIn(host)).startsWith(SITE)).to.equal(status === 200);
    };
    const runWith = (secure: Server, status: number) => {
      const HTTPS_PROXY = `https://ann@localhost:${portOf(secure)}`;
      return run({ HTTPS_PROXY, NODE_TLS_REJECT_UNAUTHORIZED: '0' }, test(status));
    };
    await runWith(secureProxy, 200);
    expect(new Set(carried)).to.deep.equal(new Set(['elsewhere.example:443 ann:']));
    carried = [];
    await runWith(falseProxy, 503);
    expect(carried).to.deep.equal([]);
  });

  it('loses the connection of a request that ends before its tunnel is open', async () => {
    const restore = setVariables({ HTTPS_PROXY: url() });
    for (const fetching of [
      (signal: AbortSignal) => fetchBounded(SITE, { maxBytes: 1, timeoutMs: 50_000, signal }),
      (signal: AbortSignal) => createIssuerFetch(1)(SITE, { ...PLAIN, signal }),
    ]) {
      const end = new AbortController();
      let closed: Promise<unknown> = Promise.resolve();
      onTunnel = (socket) => {
        closed = once(socket.resume(), 'end');
        end.abort();
      };
      expect(await fetching(end.signal).catch(() => 'failed')).to.equal('failed');
      expect(carried.splice(0)).to.deep.equal([TUNNEL]);
      await closed;
    }
    restore();
  });

  describe('for commands', () => {
    const status = (at: string, environment: Readonly<Record<string, string>>) =>
      runModgate(
        ['status', '--url', at, '--token', 't', '--ca', join(folder, 'ca.pem')],
        environment,
      );

    it('reaches the host with the authority of --ca, also without a scheme', async () => {
      const { code, stdout, stderr } = await status(SITE, {
        HTTPS_PROXY: `127.0.0.1:${portOf(proxy)}`,
      });
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.include('0 modules');
      expect(carried).to.deep.equal(['elsewhere.example:443']);
    });

    it('sends no token of an http URL through it', async () => {
      const plain = 'http://elsewhere.example:3000';
      const { code, stderr } = await status(plain, { HTTPS_PROXY: url(), HTTP_PROXY: url() });
      expect([code, carried]).to.deep.equal([1, []]);
      expect(stderr).not.to.include('proxy');
    });

    for (const [title, environment, prepare, message] of [
      [
        'cannot be reached',
        () => ({ HTTPS_PROXY: 'http://127.0.0.1:9' }),
        () => {},
        `cannot be reached ${THROUGH}: nothing listens there`,
      ],
      [
        'rejects the connection',
        () => ({ HTTPS_PROXY: url() }),
        () => {
          accepts = false;
        },
        `cannot be reached ${THROUGH}: the proxy rejected the connection`,
      ],
      [
        'cannot be used',
        () => ({ HTTPS_PROXY: 'socks5h://ann:s3cret@127.0.0.1:9' }),
        () => {},
        `cannot be reached ${THROUGH}: HTTPS_PROXY must be the URL of an HTTP proxy`,
      ],
      [
        'carries a redirect',
        () => ({ HTTPS_PROXY: url() }),
        () => {
          redirects = true;
        },
        'cannot be reached: it responded with a redirect, which is never followed',
      ],
    ] as const) {
      it(`is reported if it ${title}`, async () => {
        prepare();
        const { code, stderr } = await status(SITE, environment());
        expect(code).to.equal(1);
        expect(stderr).to.equal(`modgate: the host at ${SITE} ${message}\n`);
      });
    }
  });

  for (const [target, exceptions, expected] of [
    ['https://a.example', '', true],
    ['http://a.example', '', false],
    ['https://localhost:1', '', false],
    ['https://127.8.9.10', '', false],
    ['https://[::1]', '', false],
    ['https://[::ffff:127.0.0.1]', '', false],
    ['https://a.example', '*', false],
    ['https://a.example', 'b.example', true],
    ['https://a.example', 'b.example, A.example', false],
    ['https://a.example', 'example', false],
    ['https://a.example', '.example', false],
    ['https://a.example', '*.example', false],
    ['https://a.example', 'xample', true],
    ['https://a.example', 'a.example:443', false],
    ['https://a.example:8443', 'a.example:443', true],
    ['https://a.example:8443', 'a.example', false],
    ['https://[fd00::1]', 'fd00::1', false],
    ['https://[fd00::1]:8443', '[fd00::1]:8443', false],
    ['https://[fd00::1]', ',', true],
    ['https://10.1.2.3:8443', 'a.example,10.0.0.0/8', false],
    ['https://10.1.2.3', '10.9.9.9/8', false],
    ['https://[::ffff:10.1.2.3]', '10.0.0.0/8', false],
    ['https://[::ffff:11.1.2.3]', '10.0.0.0/8', true],
    ['https://11.1.2.3', '10.0.0.0/8', true],
    ['https://10.1.2.3', '10.0.0.0/33', true],
    ['https://10.1.2.3', '::/0', true],
    ['https://a.example', '0.0.0.0/0', true],
    ['https://[fd00::1]', 'fd00::/16', false],
    ['https://[fe00::1]', '[fd00::]/16', true],
  ] as const) {
    it(`${expected ? 'carries' : 'does not carry'} ${target} with NO_PROXY='${exceptions}'`, () => {
      const restore = setVariables({ HTTPS_PROXY: 'proxy', NO_PROXY: exceptions });
      expect(isProxied(target)).to.equal(expected);
      restore();
    });
  }
});
