import { expect } from 'chai';
import { createDescriptor, httpProvider } from '../../support/bridge/bridge.js';
import {
  askValues,
  askWrite,
  CONFIG,
  configManifest,
  readValues,
} from '../../support/bridge/config.js';
import { canLimitProcesses, limitProcess } from '../../support/chaos/process-limits.js';
import { call } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const FIELD = { service: 'conf', key: 'text', type: { kind: 'string' }, editable: true } as const;
/** More than one page of the store, so that a write must extend a file. */
const LONG = 'x'.repeat(50_000);

describe('full disk under the store', () => {
  before(function () {
    if (!canLimitProcesses()) this.skip();
  });

  const setup = useHostProcess(({ url }) => {
    const manifest = configManifest([FIELD], {
      http_routes: [{ method: 'GET', path: '/items', capability: CONFIG }],
    });
    const members = { provider: httpProvider(url) };
    return { 'conf.json': createDescriptor('conf', manifest, [CONFIG], members) };
  });

  it('rejects config_write with 503, keeps written values and continues to forward', async () => {
    expect((await askWrite(setup.host, 'text', 'before')).status).to.equal(200);
    limitProcess(setup.host.pid, 'fsize', 8_192);
    try {
      const rejected = await askWrite(setup.host, 'text', LONG);
      expect(expectProblem(rejected.response, 503).code).to.equal('unavailable');
      expect((await call(setup.host, { target: '/modules/conf/http/items' })).status).to.equal(200);
    } finally {
      limitProcess(setup.host.pid, 'fsize', 'unlimited');
    }
    // The store may be reopening its files.
    await waitUntil('values are read', async () => (await askValues(setup.host)).status === 200);
    expect((await readValues(setup.host))['text']?.desired_value).to.equal('before');
  });

  it('requires no restart when there is space again', async () => {
    await waitUntil(
      'a write is accepted',
      async () => (await askWrite(setup.host, 'text', LONG)).status === 200,
    );
    expect((await readValues(setup.host))['text']?.desired_value).to.equal(LONG);
  });
});
