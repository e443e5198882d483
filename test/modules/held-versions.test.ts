import { join } from 'node:path';
import { expect } from 'chai';
import { call, ROOT } from '../support/http/call.js';
import { describeModule } from '../support/http/modules.js';
import { useStarted } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startProvider } from '../support/provider.js';
import { MORE_ROUTES, ROUTES } from '../support/reload/crm-host.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const ACTIVE = JSON.stringify({ active: true, sub: 'billing', scope: 'use' });

describe('the version of a module that a request began with', () => {
  const waiting: (() => void)[] = [];
  const issuer = use(() =>
    startProvider((_request, response) => {
      waiting.push(() => response.end(ACTIVE));
    }),
  );
  const setup = useStarted(({ url }) => {
    const introspection = [
      {
        ...{ name: 'corp', url: issuer.url, client_id: 'modgate', client_secret: 'env:SECRET' },
        actor: { kind: 'service' },
      },
    ];
    const folder = createFolder({ 'issuers.json': JSON.stringify({ introspection }) });
    return startHost({
      args: ['--issuers', join(folder, 'issuers.json')],
      env: { SECRET: 'x' },
      files: { 'crm.json': describeModule('crm', url, ROUTES) },
    });
  });
  const get = (path: string, as: string = ROOT) =>
    call(setup.host, { target: `/modules/crm/http${path}`, as });

  it('answers it although another one serves before the caller is known', async () => {
    const early = get('/items', 'opaque');
    await waitUntil('the issuer is asked', () => waiting.length > 0);
    setup.host.drop('crm.json', describeModule('crm', setup.provider.url, MORE_ROUTES));
    await waitUntil('the next version', async () => (await get('/more')).status === 200);
    await get('/more');
    for (const answer of waiting) answer();
    expect((await early).status).to.equal(200);
  });
});
