import { join } from 'node:path';
import { expect } from 'chai';
import { callMany, expectRecovery } from '../../support/chaos/at-rest.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { callItems, describeItems } from '../../support/provider/routes.js';
import { type HostProcess, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { ProviderProcess } from '../soak/provider-process.js';

const ROUNDS = 3;

describe('provider that is killed under load', () => {
  let directory: string;
  let provider: ProviderProcess;
  let host: HostProcess;

  before(async () => {
    directory = createFolder();
    provider = new ProviderProcess(join(directory, 'journal'), '');
    await provider.start();
    const endpoints = [`http://127.0.0.1:${provider.port}`];
    const breaker = { failures: 5, open_ms: 200, max_open_ms: 400 };
    host = await startHostProcess({
      files: { 'm.json': describeItems('m', { endpoints }, { breaker }) },
    });
  });

  after(async () => {
    await host?.kill();
    await provider?.kill();
  });

  it('causes 502 until it runs again', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      expect((await callItems(host, 'm')).status, `before kill ${round}`).to.equal(200);
      const load = callMany(host, 'm', { callers: 8, forMs: 1_000 });
      await provider.kill();
      const problem = expectProblem(await callItems(host, 'm'), 502);
      expect(reasonOf(problem, 'failure')).to.equal('unavailable');
      expect([...(await load).keys()]).to.include(502);
      await provider.start();
      await expectRecovery(host, 'm');
    }
  });
});
