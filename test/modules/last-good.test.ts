import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import {
  describeCrmOf,
  hasLogged,
  keptText,
  MORE_ROUTES,
  onProbation,
  ROUTES,
  startCrmHost,
} from '../support/reload/crm-host.js';
import { useEach } from '../support/use.js';

describe('reload', () => {
  const describeCrm = (routes = ROUTES, overrides: object = {}) =>
    describeCrmOf(host, routes, overrides);

  const host = useEach(startCrmHost);

  describe('probation', () => {
    it('rolls back a changed module above the allowed error rate, with the figures', async () => {
      host.write('crm.json', describeCrm(MORE_ROUTES, onProbation(5)));
      await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
      host.provider.answer({ status: 500, body: '{}' });
      expect(await host.get('crm', '/more')).to.equal(502);
      await host.get('crm', '/more');
      await host.get('crm', '/more');
      expect((await host.entry('crm.json'))?.state).to.equal('live');
      await host.get('crm', '/more');
      const rolledBack = await host.waitFor('crm.json', 'rolled_back');
      expect(rolledBack.reason).to.equal(
        '4 of 5 calls failed on probation, more than the share of 0.2',
      );
      expect(await host.get('crm', '/more')).to.equal(404);
      host.provider.answer({});
      expect(await host.get('crm', '/items')).to.equal(200);
    });

    it('counts a version that was rolled back before a restart as a failed reload', async () => {
      host.write('crm.json', describeCrm(MORE_ROUTES, onProbation(5)));
      await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
      host.provider.answer({ status: 500, body: '{}' });
      for (let n = 0; n < 5; n += 1) await host.get('crm', '/more');
      await host.waitFor('crm.json', 'rolled_back');
      await host.restart();
      expect((await host.entry('crm.json'))?.state).to.equal('rolled_back');
      const metrics = await (await fetch(`${host.running.url}/metrics`)).text();
      expect(metrics).to.include('modgate_reload_total{result="failure"} 1\n');
    });

    it('ends normally for a module within the allowed error rate', async () => {
      host.write('crm.json', describeCrm(MORE_ROUTES, onProbation(1, 4)));
      await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
      const keptPath = join(host.state, 'last-good', 'crm.json.json');
      expect(readFileSync(keptPath, 'utf8')).not.to.contain('/more');
      await waitUntil('kept', () => readFileSync(keptPath, 'utf8').includes('/more'));
      host.provider.answer({ status: 500, body: '{}' });
      await host.get('crm', '/more');
      expect((await host.entry('crm.json'))?.state).to.equal('live');
    });
  });

  describe('last known good', () => {
    it('serves after a start with an invalid file', async () => {
      host.write('crm.json', describeCrm(MORE_ROUTES));
      await waitUntil('200', async () => (await host.get('crm', '/more')) === 200);
      host.write('crm.json', 'module: [');
      await host.waitFor('crm.json', 'stale');
      await host.restart();
      expect((await host.entry('crm.json'))?.state).to.equal('stale');
      expect(await host.get('crm', '/more')).to.equal(200);
      host.write('crm.json', describeCrm());
      await host.waitFor('crm.json', 'live');
      expect(await host.get('crm', '/more')).to.equal(404);
    });

    it('is written again when the state folder was removed', async () => {
      await waitUntil('kept', () => keptText(host, 'crm.json') !== '');
      await host.restart();
      host.write('crm.json', describeCrm(MORE_ROUTES));
      // Files are written one after the other, so that none is waiting any more.
      await waitUntil('kept', () => keptText(host, 'crm.json').includes('/more'));
      rmSync(host.state, { recursive: true });
      for (const file of ['crm.json', 'other.json']) {
        await waitUntil('written again', () => keptText(host, file) !== '');
      }
      expect(hasLogged(host, 'last good versions removed: writing them again')).to.equal(true);
      host.write('crm.json', 'module: [');
      await host.waitFor('crm.json', 'stale');
      await host.restart();
      expect((await host.entry('crm.json'))?.state).to.equal('stale');
      expect(await host.get('crm', '/items')).to.equal(200);
    });

    it('exists for a file with a long name in any language', async () => {
      const file = `${'я'.repeat(117)}.json`;
      host.write(file, describeModule('long', host.provider.url, ROUTES));
      await host.waitFor(file, 'live');
      host.write(file, 'module: [');
      await host.waitFor(file, 'stale');
      await host.restart();
      expect((await host.entry(file))?.state).to.equal('stale');
      expect(await host.get('long', '/items')).to.equal(200);
    });

    it('is removed with its file', async () => {
      host.remove('crm.json');
      await waitUntil('404', async () => (await host.get('crm', '/items')) === 404);
      await waitUntil('removed', () => keptText(host, 'crm.json') === '');
      await host.restart();
      expect((await host.list()).map(({ name }) => name)).to.deep.equal(['other']);
    });

    it('is removed when its file was deleted while the host was stopped', async () => {
      await host.running.stop();
      host.remove('crm.json');
      await host.restart();
      expect(readdirSync(join(host.state, 'last-good'))).to.deep.equal(['other.json.json']);
    });

    it('does not exist for a file that was never valid', async () => {
      host.write('bad.json', '{}');
      await host.waitFor('bad.json', 'refused');
      await host.restart();
      expect((await host.entry('bad.json'))?.state).to.equal('refused');
    });

    it('always has a reason while it is waiting, with a hint when the provider has no manifest', async () => {
      host.provider.answer({ raw: [], finally: 'hang' });
      host.write('remote.json', {
        ...describeModule('remote', host.provider.url, []),
        manifest: { from: 'provider' },
        limits: { timeout_ms: 1000 },
      });
      const isAsked = async () =>
        (await host.entry('remote.json'))?.reason === 'the provider gave no manifest yet';
      await waitUntil('the reason', isAsked);
      expect(await host.entry('remote.json')).to.include({ state: 'waiting', hint: null });
      host.provider.answer({ status: 404, body: 'Not found' });
      const hasHint = async () => (await host.entry('remote.json'))?.hint != null;
      await waitUntil('a hint', hasHint);
      expect(await host.entry('remote.json')).to.include({
        state: 'waiting',
        reason:
          'the provider gave no manifest (unavailable): ' +
          'GET /.well-known/modgate/manifest.json answered 404',
        hint: 'write manifest: ./remote/manifest.yaml to read it from a file',
      });
    });

    it('contains no secret', async () => {
      const secret = 'canary-7f3a';
      rmSync(join(host.modules, 'token'), { force: true });
      host.write('token', secret);
      host.write(
        'crm.json',
        describeCrm(ROUTES, {
          provider: {
            kind: 'http',
            config: { endpoints: [host.provider.url], auth: { bearer: 'file:./token' } },
          },
        }),
      );
      await waitUntil('kept', () => keptText(host, 'crm.json').includes('file:./token'));
      expect(keptText(host, 'crm.json')).not.to.contain(secret);
      await host.get('crm', '/items');
      const sent = host.provider.only().headers.find(([name]) => name === 'authorization');
      expect(sent?.[1]).to.equal(`Bearer ${secret}`);
    });
  });
});
