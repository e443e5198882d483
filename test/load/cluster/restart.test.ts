import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { RawConnection } from '../../../core/selftest/raw-http.js';
import { startLoad } from '../../support/cluster/constant-load.js';
import { describeShop, ITEM } from '../../support/cluster/use-workers.js';
import {
  countLines,
  isAlive,
  listWorkers,
  signal,
  TIMEOUT_MS,
  waitForLine,
} from '../../support/cluster/worker-log.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { scrape } from '../../support/observability/exposition.js';

const OK = { module: 'shop', status: '200' };

describe('rolling restart', () => {
  const setup = useHostProcess(({ url }) => ({ 'shop.json': describeShop(url) }), {
    args: ['--workers', '2'],
    tokens: { tokens: [] },
  });
  /** The serving ones: `listWorkers` does not leave out those that were replaced. */
  const listServing = () => listWorkers(setup.host).slice(-2);
  const restart = () => {
    const { host } = setup;
    const count = countLines(host, 'restarted') + 1;
    signal(host, 'SIGUSR2');
    return waitForLine(host, 'restarted', count);
  };

  it('fails no request under load and loses no counts', async () => {
    const { host } = setup;
    const before = listServing();
    const load = startLoad(host, ITEM);
    await waitUntil('load', () => load.answered > 100, TIMEOUT_MS);
    await restart();
    const atRestart = load.answered;
    await waitUntil('load on the new workers', () => load.answered > atRestart + 100, TIMEOUT_MS);
    const { answered, failures } = await load.stop();
    expect(failures).to.deep.equal([]);
    expect(listWorkers(host)).to.have.length(4);
    for (const pid of before) expect(isAlive(pid), `worker ${pid}`).to.equal(false);
    expect((await scrape(host)).sum('modgate_requests_total', OK)).to.equal(answered);
  });

  it('lets a request in progress finish on its worker', async () => {
    const { host, provider } = setup;
    provider.answer({ delayMs: 3000 });
    const slow = await RawConnection.open(host.port);
    slow.write(
      `GET ${ITEM} HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\nauthorization: Bearer dev-system:a\r\n\r\n`,
    );
    await waitUntil('the call to reach the provider', () => provider.requests.length === 1);
    const restarted = restart();
    expect((await slow.readFinal({ deadlineMs: TIMEOUT_MS })).status).to.equal(200);
    await slow.closed(TIMEOUT_MS);
    await restarted;
    slow.destroy();
  });

  it('is aborted when a new worker cannot start, while the old ones continue to serve', async () => {
    const { host } = setup;
    const before = listServing();
    writeFileSync(join(host.directory, 'tokens.json'), '{"tokens": 7}');
    const load = startLoad(host, ITEM);
    signal(host, 'SIGUSR2');
    await waitForLine(host, 'restart aborted');
    const { failures } = await load.stop();
    expect(failures).to.deep.equal([]);
    for (const pid of before) expect(isAlive(pid), `worker ${pid}`).to.equal(true);
    const exit = host.logs().find(({ msg }) => msg === 'worker exited unexpectedly');
    expect(exit?.['reason']).to.include('tokens.json');
    writeFileSync(join(host.directory, 'tokens.json'), '{"tokens": []}');
    await restart();
  });

  // The last test: the host has ended.
  it('becomes a drain when the host is stopped meanwhile', async () => {
    const { host } = setup;
    const lines = countLines(host, 'restarting');
    signal(host, 'SIGUSR2');
    await waitForLine(host, 'restarting', lines + 1);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    for (const pid of listWorkers(host)) expect(isAlive(pid), `worker ${pid}`).to.equal(false);
  });
});
