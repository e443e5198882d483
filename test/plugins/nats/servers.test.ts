import {
  type ConnectionOptions,
  credsAuthenticator,
  nkeyAuthenticator,
  nkeys,
} from '@nats-io/transport-node';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { natsAdapter } from '../../../plugins/nats/nats-adapter.js';
import {
  authority,
  client,
  elsewhere,
  expired,
  server as trusted,
} from '../../support/certificates.js';
import { failureOf } from '../../support/failure-of.js';
import { DEADLINE_MS } from '../../support/http/wait-until.js';
import { useKept } from '../../support/use.js';
import {
  createInvocation,
  eventually,
  type OpenedProvider,
  type OpenOptions,
  openAdapter,
} from '../open-adapter.js';
import { needOwnServer, type OwnServer } from './nats-server.js';
import { startService } from './nats-service.js';
import { createJwtSetup } from './user-credentials.js';

const SUBJECT = 'modgate-test.crm';
const TLS_FILES = {
  'server.pem': trusted.cert,
  'server.key': trusted.key,
  'elsewhere.pem': elsewhere.cert,
  'elsewhere.key': elsewhere.key,
  'expired.pem': expired.cert,
  'expired.key': expired.key,
  'ca.pem': authority,
};
const FILES = { './ca.pem': authority, './client.pem': client.cert, './client.key': client.key };

describe('nats adapter: servers', () => {
  const servers: OwnServer[] = [];
  const keep = useKept();

  afterEach(async () => {
    for (const server of servers.splice(0)) {
      await server.stop();
      server.remove();
    }
  });

  const startServer = async (context: Context, config = '', files = {}) => {
    const server = await needOwnServer(context, config, files);
    servers.push(server);
    return server;
  };

  const serve = async (options: ConnectionOptions) => {
    return keep(await startService(SUBJECT, () => ({ status: '204' }), options));
  };

  const open = async (config: object, options: OpenOptions = {}) => {
    return keep(await openAdapter(natsAdapter, { subject: SUBJECT, ...config }, options));
  };

  const isConnected = ({ log }: OpenedProvider) =>
    log.some(({ message }) => message === 'connected to NATS');

  const reasonsOf = ({ entries }: OpenedProvider) =>
    entries
      .filter(({ message }) => message === 'no connection to NATS')
      .map(({ fields }) => String(fields['reason']));

  const expectAnswer = async (running: OpenedProvider) => {
    await eventually(() => isConnected(running));
    expect((await running.provider.invoke(createInvocation())).status).to.equal(204);
  };

  const expectNoConnection = async (running: OpenedProvider, failure: string, reason: RegExp) => {
    await eventually(() => reasonsOf(running).length > 0);
    expect(reasonsOf(running)[0]).to.match(reason);
    expect((await failureOf(running.provider.invoke(createInvocation()))).failure).to.equal(
      failure,
    );
    expect(isConnected(running)).to.equal(false);
  };

  it('opens while the server is down, and works once it is up', async function () {
    const server = await startServer(this);
    await server.stop();
    const running = await open({ servers: [server.url] });
    const early = await failureOf(running.provider.invoke(createInvocation()));
    expect(early.failure).to.equal('unavailable');
    await eventually(() => reasonsOf(running).length > 0);
    expect(reasonsOf(running)).to.deep.equal(['no connection: connection refused']);
    await server.start();
    await serve({ servers: server.url });
    await expectAnswer(running);
  }).timeout(60_000);

  it('fails calls in flight when the server exits, and does not resend them', async function () {
    const server = await startServer(this);
    const silent = await startService(SUBJECT, () => null, { servers: server.url });
    const running = await open({ servers: [server.url] });
    await eventually(() => isConnected(running));
    const call = failureOf(running.provider.invoke(createInvocation({ target: '/first' })));
    await eventually(() => silent.received.length === 1);
    await server.stop();
    expect((await call).failure).to.equal('unavailable');
    await failureOf(running.provider.invoke(createInvocation({ target: '/meanwhile' })));
    await silent.stop();
    await server.start();
    const service = await serve({ servers: server.url });
    let status = 0;
    const end = performance.now() + DEADLINE_MS;
    while (status !== 204 && performance.now() < end) {
      const again = running.provider.invoke(createInvocation({ target: '/again' }));
      status = await again.then(
        (outcome) => outcome.status,
        () => 0,
      );
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(status).to.equal(204);
    const paths = service.received.map(({ headers }) => headers?.get('modgate-path'));
    expect([...new Set(paths)]).to.deep.equal(['/again']);
  }).timeout(60_000);

  it('uses the next server when one is down', async function () {
    const server = await startServer(this);
    await serve({ servers: server.url });
    await expectAnswer(await open({ servers: ['nats://127.0.0.1:1', server.url] }));
  });

  it('authenticates with a user, a token, an nkey and a credentials file', async function () {
    const nkey = nkeys.createUser();
    const jwt = createJwtSetup();
    const seed = new TextDecoder().decode(nkey.getSeed());
    const ways: [string, object, Record<string, string>, ConnectionOptions][] = [
      [
        'authorization { user: modgate, password: s3cret }',
        { user: { name: 'modgate', password: 'env:P' } },
        { 'env:P': 's3cret' },
        { user: 'modgate', pass: 's3cret' },
      ],
      [
        'authorization { token: s3cret }',
        { token: 'env:T' },
        { 'env:T': 's3cret' },
        { token: 's3cret' },
      ],
      [
        `authorization { users: [{ nkey: "${nkey.getPublicKey()}" }] }`,
        { nkey: 'file:./seed' },
        { 'file:./seed': seed },
        { authenticator: nkeyAuthenticator(Buffer.from(seed)) },
      ],
      [
        jwt.config,
        { creds: 'env:C' },
        { 'env:C': jwt.creds },
        { authenticator: credsAuthenticator(Buffer.from(jwt.creds)) },
      ],
    ];
    for (const [config, auth, secrets, options] of ways) {
      const server = await startServer(this, config);
      await serve({ servers: server.url, ...options });
      await expectAnswer(await open({ servers: [server.url], auth }, { secrets }));
    }
  }).timeout(60_000);

  it('fails as refused with wrong credentials, and retries', async function () {
    const server = await startServer(this, 'authorization { user: modgate, password: s3cret }');
    const auth = { user: { name: 'modgate', password: 'env:P' } };
    const secrets = { 'env:P': 'wr0ng' };
    const running = await open({ servers: [server.url], auth }, { secrets });
    await expectNoConnection(running, 'refused', /Authorization Violation/i);
    expect(JSON.stringify(running.entries)).not.to.match(/wr0ng|s3cret/);
  });

  it('rejects an invalid seed and credentials file without printing them', async () => {
    for (const [auth, expected] of [
      [{ nkey: 'env:S' }, 'auth.nkey must resolve to the seed of a user nkey'],
      [{ creds: 'env:S' }, 'auth.creds must resolve to a credentials file'],
    ] as const) {
      const config = { servers: ['nats://127.0.0.1:1'], auth };
      const error = await open(config, { secrets: { 'env:S': 'wr0ng' } }).then(
        () => expect.fail('expected the secret to be refused'),
        (reason: Error) => reason,
      );
      expect(error.message).to.equal(expected);
      expect(error.cause).to.equal(undefined);
    }
  });

  const tlsConfig = (name: string, more = '') =>
    `tls { cert_file: "DIR/${name}.pem", key_file: "DIR/${name}.key" ${more} }`;

  it('uses TLS with a configured CA and client certificate', async function () {
    const tls = { ca: authority };
    const server = await startServer(this, tlsConfig('server'), TLS_FILES);
    await serve({ servers: server.url, tls });
    await expectAnswer(
      await open({ servers: [server.url], tls: { ca: './ca.pem' } }, { files: FILES }),
    );
    const mutual = await startServer(
      this,
      tlsConfig('server', ', ca_file: "DIR/ca.pem", verify: true'),
      TLS_FILES,
    );
    await serve({ servers: mutual.url, tls: { ...tls, cert: client.cert, key: client.key } });
    const files = { ca: './ca.pem', cert: './client.pem', key: './client.key' };
    await expectAnswer(await open({ servers: [mutual.url], tls: files }, { files: FILES }));
  });

  const UNTRUSTED: readonly [
    title: string,
    name: string,
    tls: object | undefined,
    reason: RegExp,
  ][] = [
    ['for another host', 'elsewhere', { ca: './ca.pem' }, /does not match certificate's altnames/],
    ['that has expired', 'expired', { ca: './ca.pem' }, /expired/],
    ['of another CA', 'server', undefined, /certificate/],
  ];
  for (const [title, name, tls, reason] of UNTRUSTED) {
    it(`does not connect to a server with a certificate ${title}`, async function () {
      const server = await startServer(this, tlsConfig(name), TLS_FILES);
      const config = {
        servers: [server.url.replace('nats:', 'tls:')],
        ...(tls !== undefined && { tls }),
      };
      await expectNoConnection(await open(config, { files: FILES }), 'unavailable', reason);
    });
  }

  it('does not connect without TLS when the config requires it', async function () {
    const server = await startServer(this);
    const running = await open({ servers: [server.url.replace('nats:', 'tls:')] });
    await expectNoConnection(running, 'unavailable', /tls/i);
  });

  it('fails as refused for a denied subject', async function () {
    const config = `authorization { users: [
      { user: modgate, password: p, permissions: { publish: ["${SUBJECT}.check"], subscribe: ["_INBOX.>"] } },
      { user: service, password: p } ] }`;
    const server = await startServer(this, config);
    await serve({ servers: server.url, user: 'service', pass: 'p' });
    const auth = { user: { name: 'modgate', password: 'env:P' } };
    const running = await open({ servers: [server.url], auth }, { secrets: { 'env:P': 'p' } });
    await eventually(() => isConnected(running));
    await running.provider.check(new AbortController().signal);
    const call = running.provider.invoke(
      createInvocation({}, { signal: AbortSignal.timeout(DEADLINE_MS) }),
    );
    expect((await failureOf(call)).failure).to.equal('refused');
  });

  it('sends nothing while the server denies the subscription for answers', async function () {
    const config = `authorization { users: [
      { user: modgate, password: p, permissions: { subscribe: ["_ALLOWED.>"] } },
      { user: service, password: p } ] }`;
    const server = await startServer(this, config);
    const service = await serve({ servers: server.url, user: 'service', pass: 'p' });
    const auth = { user: { name: 'modgate', password: 'env:P' } };
    const running = await open({ servers: [server.url], auth }, { secrets: { 'env:P': 'p' } });
    const isDenied = () =>
      running.log.some(({ message }) => message === 'NATS server reported an error');
    await eventually(isDenied);
    const call = running.provider.invoke(
      createInvocation({}, { signal: AbortSignal.timeout(DEADLINE_MS) }),
    );
    const failure = await failureOf(call);
    expect(failure.failure).to.equal('refused');
    expect(failure.message).to.equal('not allowed: subscription');
    expect(service.received).to.deep.equal([]);
  });

  it('closes at once while connecting, and does not reconnect', async function () {
    const server = await startServer(this);
    await server.stop();
    const running = await open({ servers: [server.url] });
    await running.close();
    await server.start();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(isConnected(running)).to.equal(false);
  });
});
