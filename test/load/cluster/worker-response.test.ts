import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ITEM, useWorkers } from '../../support/cluster/use-workers.js';
import { countLines, waitForLine } from '../../support/cluster/worker-log.js';
import { call } from '../../support/http/call.js';
import { scrape } from '../../support/observability/exposition.js';
import { createFolder } from '../../support/temporary-folder.js';

const PRELOAD = new URL('../../support/isolation/injected-faults.js', import.meta.url).href;

describe('a worker that cannot respond to its primary', () => {
  const workers = useWorkers();
  const folder = createFolder();
  const control = join(folder, 'fault');

  it('keeps serving, logs the reason, and responds again later', async () => {
    const env = { INJECTED_FAULT: control, NODE_OPTIONS: `--import ${PRELOAD}` };
    const host = await workers.start({ env });
    const serve = async () => {
      for (let count = 0; count < 4; count += 1) {
        expect((await call(host, { target: ITEM })).status).to.equal(200);
      }
    };
    await serve();
    writeFileSync(control, 'a read of metrics rejects');
    expect((await call(host, { target: '/metrics' })).status).to.equal(200);
    await waitForLine(host, 'worker response failed', 2);
    await serve();
    writeFileSync(control, '');
    const ok = { module: 'shop', status: '200' };
    expect((await scrape(host)).sum('modgate_requests_total', ok)).to.equal(8);
    expect(countLines(host, 'worker exited unexpectedly')).to.equal(0);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });
});
