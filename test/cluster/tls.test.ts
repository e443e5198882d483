import { expect } from 'chai';
import { callers, renewed } from '../support/caller-certificates.js';
import { authority } from '../support/certificates.js';
import { listWorkers, PATIENCE_MS, waitForLine } from '../support/cluster/worker-log.js';
import { waitUntil } from '../support/http/wait-until.js';
import { ask, shakeHands, startTlsHost, type TlsHost } from '../support/tls/tls-host.js';

const MANY = 8;
const BOTH_AUTHORITIES = [authority, callers];

describe('workers behind TLS', function () {
  this.timeout(120_000);
  let host: TlsHost;

  before(async () => {
    host = await startTlsHost({}, () => ['--workers', '2']);
  });
  after(() => host.stopAll());

  const repeat = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: MANY }, work));
  /** Whom the certificates name that callers get, who meet one worker after the other. */
  const subjects = async () => {
    const sockets = await repeat(() => shakeHands(host, { ca: BOTH_AUTHORITIES }));
    const names = sockets.map((socket) => String(socket.getPeerCertificate().subject.CN));
    for (const socket of sockets) socket.destroy();
    return [...new Set(names)];
  };

  it('answer all callers', async () => {
    const answers = await repeat(() => ask(host, '/livez'));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(MANY).fill(200));
  });

  it('show the same certificate after one of them died', async () => {
    const before = await subjects();
    const [victim = 0] = listWorkers(host);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'a worker serves', 3);
    expect(await subjects()).to.deep.equal(before);
    expect((await ask(host, '/livez')).status).to.equal(200);
  });

  it('all take a new pair', async () => {
    const [before] = await subjects();
    host.write('server.key', renewed.key);
    host.write('server.pem', renewed.cert);
    await waitUntil(
      'the new pair everywhere',
      async () => !(await subjects()).includes(before ?? ''),
      PATIENCE_MS,
    );
    expect(await subjects()).to.have.length(1);
  });
});
