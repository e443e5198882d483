import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeModule, toRoutes } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type ReloadProcess, startReloadProcess } from '../../support/reload/reload-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const PRELOAD = new URL('../../support/isolation/injected-faults.js', import.meta.url).href;
const ROUTES = toRoutes(['GET /items'], 'use');

/** Functions of Node.js that fail in a way that no code expects, and whether calls fail too meanwhile. */
const FAULTS: readonly (readonly [point: string, failsCalls?: true])[] = [
  ['readdir rejects'],
  ['readdir throws'],
  ['open rejects'],
  ['open throws'],
  ['stat of a promise rejects'],
  ['stat throws'],
  ['stat fails'],
  ['lstat rejects'],
  ['rename rejects'],
  ['watch throws'],
  ['watch emits an error'],
  ['write fails'],
  ['connect throws'],
  ['writeHead throws', true],
  ['end throws', true],
];

describe('a host whose functions fail unexpectedly', () => {
  let host: ReloadProcess;
  let control: string;
  let folder: string;
  let count = 0;

  before(async () => {
    folder = createFolder();
    control = join(folder, 'fault');
    host = await startReloadProcess(
      ({ url }) => ({ 'good.json': describeModule('good', url, ROUTES) }),
      [],
      { INJECTED_FAULT: control, NODE_OPTIONS: `--import ${PRELOAD}` },
    );
  });

  after(async () => {
    await host?.close();
  });

  const readFired = () =>
    existsSync(`${control}.fired`) ? readFileSync(`${control}.fired`, 'utf8').split('\n') : [];
  const change = () => {
    count += 1;
    const routes = toRoutes(['GET /items', `GET /new-${count}`], 'use');
    host.write('changed.json', describeModule('changed', host.provider.url, routes));
    // A new folder is watched, and a new file is listed.
    host.write(`folder-${count}/manifest.json`, '{}');
    host.write(`other-${count}.json`, {
      ...describeModule(`other-${count}`, host.provider.url, ROUTES),
      manifest: `./folder-${count}/manifest.json`,
    });
  };

  for (const [point, failsCalls = false] of FAULTS) {
    it(`serves and recovers while ${point}`, async () => {
      writeFileSync(control, point);
      change();
      await waitUntil(`${point} has failed`, async () => {
        const status = await host.get('good', '/items').catch(() => null);
        if (!failsCalls) expect(status).to.equal(200);
        // Its new version connects again.
        await host.get('changed', '/items').catch(() => null);
        return readFired().includes(point);
      });
      writeFileSync(control, '');
      change();
      await waitUntil('the new route', async () => {
        return (await host.get('changed', `/new-${count}`).catch(() => 0)) === 200;
      });
      expect(await host.get('good', '/items')).to.equal(200);
    });
  }

  it('continues to log', async () => {
    const count = host.running.logs().length;
    await host.get('good', '/items');
    await waitUntil('a log line', () => host.running.logs().length > count);
  });
});
