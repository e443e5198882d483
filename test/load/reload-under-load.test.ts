import { expect } from 'chai';
import { waitUntil } from '../support/http/wait-until.js';
import { churn } from '../support/reload/churn.js';
import { ConstantLoad } from '../support/reload/constant-load.js';
import { describeVersion, moduleName } from '../support/reload/many-reloads.js';
import { type ReloadProcess, startReloadProcess } from '../support/reload/reload-host.js';

const NAMES = Array.from({ length: 100 }, (_, index) => moduleName(index));
const CHANGED = NAMES.slice(0, 10);
const CONNECTIONS = 16;
const CHURN_MS = 10_000;

describe('reload under load', () => {
  let host: ReloadProcess;

  before(async () => {
    // On a busy machine no request may be shed or time out.
    const limits = { timeout_ms: 60_000 };
    host = await startReloadProcess(
      ({ url }) =>
        Object.fromEntries(
          NAMES.map((name) => [`${name}.json`, { ...describeVersion(name, url, 1), limits }]),
        ),
      ['--shed-delay-ms', '60000', '--log-success-sample', '0'],
    );
  });

  after(() => host?.close());

  it('fails no request, neither of changing modules nor of others', async () => {
    const load = new ConstantLoad(host.running.url, NAMES, CONNECTIONS);
    const { done, versions } = await churn(host, CHANGED, CHURN_MS);
    for (const [name, version] of versions) {
      const isServed = async () => (await host.get(name, `/v${version % 2}`)) === 200;
      await waitUntil(`${name} serves its last version`, isServed);
    }
    const { requests, failed } = await load.stop();
    expect([...failed]).to.deep.equal([]);
    expect(requests).to.be.above(CONNECTIONS);
    for (const count of Object.values(done)) expect(count).to.be.above(0);
  });
});
