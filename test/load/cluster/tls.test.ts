import { expect } from 'chai';
import { callers, renewed } from '../../support/caller-certificates.js';
import { authority } from '../../support/certificates.js';
import { listWorkers, TIMEOUT_MS, waitForLine } from '../../support/cluster/worker-log.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { ask, shakeHands, startTlsProcess, type TlsHost } from '../../support/tls/tls-host.js';

const MANY = 8;
const BOTH_AUTHORITIES = [authority, callers];

describe('workers behind TLS', () => {
  let host: TlsHost;

  before(async () => {
    host = await startTlsProcess({}, () => ['--workers', '2']);
  });
  after(() => host.stopAll());

  const repeat = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: MANY }, work));
  /** The subjects of the certificates of all workers: connections are distributed in turn. */
  const subjects = async () => {
    const sockets = await repeat(() => shakeHands(host, { ca: BOTH_AUTHORITIES }));
    const names = sockets.map((socket) => String(socket.getPeerCertificate().subject.CN));
    for (const socket of sockets) socket.destroy();
    return [...new Set(names)];
  };

  it('serve all clients', async () => {
    const answers = await repeat(() => ask(host, '/livez'));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(MANY).fill(200));
  });

  it('present the same certificate after a worker was replaced', async () => {
    const before = await subjects();
    const [victim = 0] = listWorkers(host);
    process.kill(victim, 'SIGKILL');
    await waitForLine(host, 'worker ready', 3);
    expect(await subjects()).to.deep.equal(before);
    expect((await ask(host, '/livez')).status).to.equal(200);
  });

  it('reload a changed certificate and key in every process', async () => {
    const [before] = await subjects();
    host.write('server.key', renewed.key);
    host.write('server.pem', renewed.cert);
    await waitUntil(
      'all workers to use the new certificate',
      async () => !(await subjects()).includes(before ?? ''),
      TIMEOUT_MS,
    );
    expect(await subjects()).to.have.length(1);
  });
});
