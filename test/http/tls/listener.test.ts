import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { callers, encryptedKey, renewed } from '../../support/caller-certificates.js';
import { authority, server } from '../../support/certificates.js';
import { rejectStart } from '../../support/cli/reject-start.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { runModgate, runProcess } from '../../support/cli/run-modgate.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { ask, shakeHands, startTlsHost } from '../../support/tls/tls-host.js';
import { use } from '../../support/use.js';

const BOTH_AUTHORITIES = [authority, callers];

describe('TLS listener', () => {
  const subjectNow = async () => {
    const socket = await shakeHands(host, { ca: BOTH_AUTHORITIES });
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  const readMetric = async (name: string) => {
    const { body } = await ask(host, '/metrics', { ca: BOTH_AUTHORITIES });
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]);
  };

  const host = use(() => startTlsHost({}, () => ['--head-timeout-ms', '2000']));

  after(() => host.stopAll());

  it('reports its https URL and responds', async () => {
    expect(host.url).to.match(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect((await ask(host, '/livez')).status).to.equal(200);
    expect((await ask(host, '/modules')).status).to.equal(401);
    expect((await ask(host, '/modules', { token: 'dev-system:root' })).status).to.equal(200);
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`speaks ${version}`, async () => {
      const answer = await ask(host, '/livez', { minVersion: version, maxVersion: version });
      expect(answer.status).to.equal(200);
    });
  }

  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    it(`does not speak ${version}`, async () => {
      const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
      const error: unknown = await shakeHands(host, old).catch((reason) => reason);
      expect(error)
        .to.have.property('code')
        .that.matches(/PROTOCOL_VERSION/);
    });
  }

  it('does not wait in a drain for a connection on which nothing was sent', async () => {
    const other = await startTlsHost({}, () => ['--drain-ms', '600000']);
    const socket = await shakeHands(other);
    const closed = once(socket, 'close');
    await other.stopAll();
    await closed;
  });

  it('offers only HTTP/1.1', async () => {
    const socket = await shakeHands(host, { ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket.alpnProtocol).to.equal('http/1.1');
    socket.destroy();
  });

  for (const [title, bytes] of [
    ['plain HTTP', 'GET /livez HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['bytes that are no handshake', '\x16\x03\x01\xff\xff'.repeat(100)],
    ['half a handshake', '\x16\x03\x01\x02\x00\x01\x00'],
    ['nothing', ''],
  ] as const) {
    it(`closes a connection that sends ${title}, without a response in plain text`, async () => {
      const before = await readMetric('modgate_tls_handshakes_failed_total');
      const socket = connect(host.port, '127.0.0.1');
      let received = '';
      socket.setEncoding('latin1').on('data', (text) => {
        received += text;
      });
      socket.on('error', () => {});
      socket.write(bytes, 'latin1');
      await once(socket, 'close');
      expect(received).not.to.include('HTTP');
      expect(await readMetric('modgate_tls_handshakes_failed_total')).to.be.greaterThan(before);
      expect((await ask(host, '/livez')).status).to.equal(200);
    });
  }

  it('uses a new pair for new connections and keeps open ones', async () => {
    const open = await shakeHands(host);
    expect(await subjectNow()).to.equal('server');
    host.write('server.pem', renewed.cert);
    host.write('server.key', renewed.key);
    await waitUntil('the new certificate', async () => (await subjectNow()) === 'renewed');
    open.write('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    const [answer] = (await once(open, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 200/);
    open.destroy();
    expect((await ask(host, '/metrics', { ca: BOTH_AUTHORITIES })).body).to.match(
      /modgate_tls_reload_total\{result="success"\} [1-9]/,
    );
    expect(await readMetric('modgate_tls_certificate_expiry_timestamp_seconds')).to.be.greaterThan(
      Date.now() / 1000,
    );
  });

  for (const [title, name, text, reason] of [
    [
      'a key of another certificate',
      'server.key',
      server.key,
      /must be the key of the certificate/,
    ],
    ['half a certificate', 'server.pem', renewed.cert.slice(0, 100), /certificate in PEM/],
    ['a key under a passphrase', 'server.key', encryptedKey, /is encrypted/],
  ] as const) {
    it(`keeps the last good pair when ${title} replaces it, and logs it`, async () => {
      host.write('server.pem', renewed.cert);
      host.write('server.key', renewed.key);
      await waitUntil('the good pair', async () => (await subjectNow()) === 'renewed');
      const before = host.output().length;
      host.write(name, text);
      await waitUntil('a word about it', () => reason.test(host.output().slice(before)));
      expect(await subjectNow()).to.equal('renewed');
      expect(host.output()).not.to.include('PRIVATE KEY');
    });
  }

  it('warns about a key that other users can read', async () => {
    host.write('server.pem', server.cert);
    host.write('server.key', server.key);
    await waitUntil('the first certificate', async () => (await subjectNow()) === 'server');
    expect(host.output()).not.to.include('others than its owner');
    const open = await startTlsHost({}, (path) => {
      chmodSync(path('server.key'), 0o640);
      return [];
    });
    const warned = () => open.output().includes('private key readable by other users');
    await waitUntil('a warning', warned);
    await open.stopAll();
  });

  it('is reachable for commands with its authority', async () => {
    const ca = host.write('authority.pem', authority);
    const args = ['status', '--url', host.url, '--token', 'dev-system:root', '--json'];
    for (const { code, stderr } of [
      await runModgate([...args, '--ca', ca]),
      await runModgate(args, { MODGATE_CA: ca }),
      await runProcess(args, { NODE_EXTRA_CA_CERTS: ca }),
      await runModgate(['plugins', ...args.slice(1), '--ca', ca]),
    ]) {
      expect(code, stderr).to.equal(0);
    }
    const untrusted = await runModgate(args);
    expect(untrusted.code).to.equal(1);
    expect(untrusted.stderr).to.match(/unknown authority.*--ca/);
    const wrong = await runModgate([...args, '--ca', join(host.folder, 'server.key')]);
    expect(wrong.code).to.equal(2);
    expect(wrong.stderr).to.match(/--ca must be a file with a PEM certificate/);
  });
});

describe('TLS settings', () => {
  const base = ['serve', '--env', 'development', '--port', '0'];

  for (const [title, files, args, message] of [
    [
      'a certificate without a key',
      {},
      ['--tls-cert', 'server.pem'],
      /--tls-cert requires --tls-key/,
    ],
    [
      'a key without a certificate',
      {},
      ['--tls-key', 'server.key'],
      /--tls-key requires --tls-cert/,
    ],
    [
      'a certificate that is not there',
      {},
      ['--tls-cert', 'no.pem', '--tls-key', 'server.key'],
      /no\.pem does not exist/,
    ],
    [
      'a key that is not there',
      {},
      ['--tls-cert', 'server.pem', '--tls-key', 'no.key'],
      /no\.key does not exist/,
    ],
    [
      'a certificate that is none',
      { 'bad.pem': 'canary' },
      ['--tls-cert', 'bad.pem', '--tls-key', 'server.key'],
      /bad\.pem must hold a certificate in PEM/,
    ],
    [
      'a key that is none',
      { 'bad.key': 'canary' },
      ['--tls-cert', 'server.pem', '--tls-key', 'bad.key'],
      /bad\.key must hold a private key in PEM/,
    ],
    [
      'the key of another',
      { 'bad.key': renewed.key },
      ['--tls-cert', 'server.pem', '--tls-key', 'bad.key'],
      /must be the key of the certificate in/,
    ],
    [
      'an encrypted key',
      { 'bad.key': encryptedKey },
      ['--tls-cert', 'server.pem', '--tls-key', 'bad.key'],
      /bad\.key is encrypted/,
    ],
    [
      'authorities without actors',
      {},
      ['--tls-cert', 'server.pem', '--tls-key', 'server.key', '--tls-client-ca', 'server.pem'],
      /--tls-client-ca requires --tls-clients/,
    ],
    [
      'actors without TLS',
      { 'c.json': '{"clients":[]}' },
      ['--tls-client-ca', 'server.pem', '--tls-clients', 'c.json'],
      /--tls-client-ca requires --tls-cert/,
    ],
    [
      'a head that may take longer than its request',
      {},
      ['--head-timeout-ms', '2', '--request-timeout-ms', '1'],
      /--head-timeout-ms must be at most/,
    ],
  ] as [string, Record<string, string>, string[], RegExp][]) {
    it(`reject ${title} with exit code 2`, async () => {
      const place = createWorkplace();
      place.write('modules.d/.keep', '');
      place.write('server.pem', server.cert);
      writeFileSync(join(place.folder, 'server.key'), server.key, { mode: 0o600 });
      for (const [name, text] of Object.entries(files)) place.write(name, text);
      const path = (name: string) => join(place.folder, name);
      const paths = args.map((arg) => (/\.\w+$/.test(arg) ? path(arg) : arg));
      const folders = ['--modules', path('modules.d'), '--state', path('state')];
      const { code, stderr } = await rejectStart([...base, ...folders, ...paths]);
      expect(code, stderr).to.equal(2);
      expect(stderr)
        .to.match(message)
        .and.not.match(/canary|PRIVATE/);
    });
  }

  it('are optional', async () => {
    const { code, stderr } = await rejectStart(['serve', '--modules', '/nowhere']);
    expect(code).to.equal(2);
    expect(stderr).not.to.include('tls');
  });
});
