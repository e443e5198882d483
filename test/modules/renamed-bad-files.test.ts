import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { waitUntil } from '../support/http/wait-until.js';
import { describeCrmOf, MORE_ROUTES, startCrmHost } from '../support/reload/crm-host.js';
import { useEach } from '../support/use.js';

describe('a bad file with the module of a removed one', () => {
  const host = useEach(startCrmHost);

  it('keeps the last good version when a file is replaced, renamed and broken at once', async () => {
    await host.get('crm', '/items');
    host.replace('crm.json', '{"module": "crm", "provdier": {}}');
    host.rename('crm.json', 'moved.json');
    const stale = await host.waitFor('moved.json', 'stale');
    expect(stale.reason).to.include("unknown key 'provdier'");
    expect(await host.entry('crm.json')).to.equal(undefined);
    expect(await host.get('crm', '/items')).to.equal(200);
    host.write('moved.json', describeCrmOf(host, MORE_ROUTES, {}));
    await host.waitFor('moved.json', 'live');
    expect(await host.get('crm', '/more')).to.equal(200);
    expect((await host.entry('moved.json'))?.counts.calls).to.equal(3);
  });

  it('keeps the last good version when a bad copy takes the place of a file', async () => {
    host.write('copy.json', '{"module": "crm", "provdier": {}}');
    await host.waitFor('copy.json', 'refused');
    host.remove('crm.json');
    await host.waitFor('copy.json', 'stale');
    expect(await host.get('crm', '/items')).to.equal(200);
  });

  it('removes a module although another bad file has named it for a time', async () => {
    host.write('draft.json', '{"module": "crm", "provdier": {}}');
    await host.waitFor('draft.json', 'refused');
    // A bad file of the last 2 seconds may be a copy of the removed one.
    await pause(2100);
    host.remove('crm.json');
    await waitUntil('it is removed', async () => (await host.get('crm', '/items')) === 404);
    expect((await host.entry('draft.json'))?.state).to.equal('refused');
  });
});
