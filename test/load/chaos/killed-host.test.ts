import { expect } from 'chai';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import {
  describeCrmOf,
  hasLogged,
  keptText,
  MORE_ROUTES,
  onProbation,
  ROUTES,
  startCrmProcess,
} from '../../support/reload/crm-host.js';
import type { ReloadProcess } from '../../support/reload/reload-host.js';

describe('modules of a host that was killed', () => {
  let host: ReloadProcess;
  const describeCrm = (routes = ROUTES, overrides: object = {}) =>
    describeCrmOf(host, routes, overrides);

  before(async () => {
    host = await startCrmProcess();
  });

  afterEach(async () => {
    host.provider.answer({});
    host.write('crm.json', describeCrm());
    await waitUntil('404', async () => (await host.get('crm', '/more')) === 404);
    await host.waitFor('crm.json', 'live');
  });

  after(() => host.close());

  it('stay rolled back through a rescan and a restart, until the file changes', async () => {
    host.write('crm.json', describeCrm(MORE_ROUTES, onProbation(1)));
    await waitUntil('live', async () => (await host.get('crm', '/more')) === 200);
    host.provider.answer({ status: 500, body: '{}' });
    await host.get('crm', '/more');
    await host.waitFor('crm.json', 'rolled_back');
    host.provider.answer({});
    process.kill(host.running.pid, 'SIGHUP');
    await waitUntil('a rescan', () => hasLogged(host, 'modules folder rescanned'));
    await host.restart('SIGKILL');
    expect((await host.entry('crm.json'))?.state).to.equal('rolled_back');
    expect(await host.get('crm', '/more')).to.equal(404);
    expect(await host.get('crm', '/items')).to.equal(200);
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await host.waitFor('crm.json', 'live');
    expect(await host.get('crm', '/more')).to.equal(200);
  });

  it('serve the last good version after a start with an invalid file', async () => {
    host.write('crm.json', describeCrm(MORE_ROUTES));
    await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
    host.write('crm.json', 'module: [');
    await host.waitFor('crm.json', 'stale');
    await host.restart('SIGKILL');
    expect((await host.entry('crm.json'))?.state).to.equal('stale');
    expect(await host.get('crm', '/more')).to.equal(200);
    host.write('crm.json', describeCrm());
    await host.waitFor('crm.json', 'live');
    expect(await host.get('crm', '/more')).to.equal(404);
  });

  it('serve the last good version after a start with an invalid manifest', async () => {
    host.write('crm.manifest.json', buildManifest('crm', ROUTES));
    host.write('crm.json', { ...describeCrm(), manifest: './crm.manifest.json' });
    await host.waitFor('crm.json', 'live');
    await waitUntil('kept', () => keptText(host, 'crm.json').includes('crm.manifest.json'));
    host.write('crm.manifest.json', '{}');
    await host.restart('SIGKILL');
    expect((await host.entry('crm.json'))?.state).to.equal('stale');
    expect(await host.get('crm', '/items')).to.equal(200);
  });

  it('serve the last good version as waiting when the manifest of the provider is unavailable at start', async () => {
    host.provider.answer({ body: JSON.stringify(buildManifest('remote', ROUTES)) });
    host.write('remote.json', {
      ...describeModule('remote', host.provider.url, []),
      manifest: { from: 'provider' },
    });
    await host.waitFor('remote.json', 'live');
    await waitUntil('kept', () => keptText(host, 'remote.json').includes('/items'));
    host.provider.answer({ status: 503, body: '{}' });
    await host.restart('SIGKILL');
    const hasReason = async () => (await host.entry('remote.json'))?.reason != null;
    await waitUntil('a reason', hasReason);
    const waiting = await host.entry('remote.json');
    expect(waiting?.state).to.equal('waiting');
    expect(waiting?.reason).to.contain('the provider gave no manifest');
    host.provider.answer({ body: JSON.stringify(buildManifest('remote', MORE_ROUTES)) });
    expect(await host.get('remote', '/items')).to.equal(200);
    await host.waitFor('remote.json', 'live');
    expect(await host.get('remote', '/more')).to.equal(200);
  });
});
