import { expect } from 'chai';
import type { Route } from 'playwright-core';
import { describeCrm } from '../../../support/console/shop-modules.js';
import type { ConsoleSetup } from '../../../support/console/use-console.js';
import { call } from '../../../support/http/call.js';
import { describeModule } from '../../../support/http/modules.js';

export function describeModulePages(setup: ConsoleSetup): void {
  const describeOwned = (name: string, owner: object) =>
    describeModule(name, setup.provider.url, [], { owner });

  describe('the owner', () => {
    it('is shown with links for https: and mailto: alone', async () => {
      const name = 'Team CRM';
      const contact = 'mailto:crm@team.example';
      const docs = 'https://team.example/crm';
      setup.drop('owned.json', describeOwned('owned', { name, contact, docs }));
      setup.drop('chat.json', describeOwned('chat', { contact: 'javascript:alert(1)' }));
      const page = await setup.open('/console/modules/owned');
      await page.getByText('Owner: Team CRM').waitFor();
      for (const href of [contact, docs]) {
        expect(await page.getByRole('link', { name: href }).getAttribute('href')).to.equal(href);
      }
      const other = await setup.open('/console/modules/chat');
      await other.getByText('Owner: javascript:alert(1)').waitFor();
      expect(await other.getByRole('link', { name: 'javascript' }).count()).to.equal(0);
    });
  });

  it('shows what the provider says about itself', async () => {
    const addFacts = async (route: Route) => {
      const response = await route.fetch();
      const list = (await response.json()) as { modules: { name: string; facts?: object[] }[] };
      const crm = list.modules.find(({ name }) => name === 'crm');
      const problem = { name: 'tool add', value: '<b>changed</b>', problem: true };
      if (crm !== undefined) crm.facts = [{ name: 'tools', value: '12' }, problem];
      await route.fulfill({ response, json: list });
    };
    const page = await setup.open('/console/modules/crm?tab=Endpoints', {
      prepare: async (target) => {
        await target.route('**/console/api/modules', addFacts);
      },
    });
    await page.getByRole('row', { name: 'tools 12' }).waitFor();
    await page.getByRole('row', { name: 'tool add Problem: <b>changed</b>' }).waitFor();
  });

  it('finds one of 2,000 routes by the words of its path and its summary', async () => {
    const routes = Array.from({ length: 2000 }, (_, at) => ({
      method: at % 2 === 0 ? 'GET' : 'POST',
      path: `/things/${at}/parts`,
      capability: 'large.use',
      summary: `Summary of ${at}. ${'One of the longer sentences of a document. '.repeat(at % 9)}`,
    }));
    setup.drop('large.json', describeModule('large', setup.provider.url, routes));
    const page = await setup.open('/console/modules/large');
    await page.getByText('2,000 routes', { exact: true }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('row', { name: '/things/1999/parts' }).waitFor();
    expect(await page.getByRole('row').count()).to.be.below(400);
    await page.getByRole('searchbox').fill('post SUMMARY /things/77/');
    await page.getByText('1 of 2,000 routes').waitFor();
    await page.getByRole('row', { name: '/things/77/parts' }).waitFor();
    await page.getByRole('searchbox').fill('nothing has this');
    await page.getByText('No route matches').waitFor();
    setup.drop('large.json', null);
    await page.getByText('There is no module of this name').waitFor();
  });

  it('labels the routes that stream, and those that are WebSockets', async () => {
    const describe = (path: string, operation: object) => {
      return { method: 'GET', path, capability: 'chat.use', operation };
    };
    const routes = [
      describe('/socket', { stream: 'websocket', operation_id: 'open' }),
      describe('/socket', { operation_id: 'poll' }),
      describe('/events', { stream: 'sse' }),
    ];
    setup.drop('flows.json', describeModule('flows', setup.provider.url, routes));
    const page = await setup.open('/console/modules/flows?tab=Routes');
    const rowsOf = (path: string) => page.getByRole('row').filter({ hasText: path });
    await rowsOf('/events').getByText('streams sse', { exact: true }).waitFor();
    expect(await rowsOf('/socket').count()).to.equal(2);
    expect(await rowsOf('/socket').getByText('WebSocket', { exact: true }).count()).to.equal(1);
  });

  it('shows the mounts of a module', async () => {
    const mount = [{ path: '/api/shop' }, { host: 'shop.example', path: '/' }];
    setup.drop('mounted.json', describeModule('mounted', setup.provider.url, [], { mount }));
    const page = await setup.open('/console/modules/mounted');
    await page.getByText('Also at /api/shop, shop.example/').waitFor();
  });

  it('says of public routes that they are, also on the tab of grants', async () => {
    const routes = [
      { method: 'GET', path: '/news', capability: 'open.read', access: 'public' },
      { method: 'GET', path: '/inside', capability: 'open.read' },
    ];
    const { url } = setup.provider;
    setup.drop('open.json', describeModule('open', url, routes, { public: true }));
    setup.drop('shut.json', describeModule('shut', url, routes));
    const page = await setup.open('/console/modules/open?tab=Routes');
    const row = (path: string) => page.getByRole('row').filter({ hasText: path });
    await row('/news').getByText('public', { exact: true }).waitFor();
    expect(await row('/inside').getByText('public', { exact: true }).count()).to.equal(0);
    await page.goto(`${setup.host.url}/console/modules/open?tab=Grants`);
    await page.getByText('Anybody may call without credentials: GET /news.').waitFor();
    // Without `public: true` in the descriptor the route needs its capability.
    const shut = await setup.open('/console/modules/shut?tab=Routes');
    await shut.getByRole('row').filter({ hasText: '/news' }).getByText('open.read').waitFor();
    expect(await shut.getByText('public', { exact: true }).count()).to.equal(0);
    await shut.goto(`${setup.host.url}/console/modules/shut?tab=Grants`);
    await shut.getByText('not granted', { exact: true }).waitFor();
    expect(await shut.getByText('Anybody may call').count()).to.equal(0);
  });

  it('shows the mount through which a call came', async () => {
    const mount = [{ host: 'news.example', path: '/feed' }];
    const routes = [{ method: 'GET', path: '/latest', capability: 'open.read' }];
    setup.drop('feed.json', describeModule('feed', setup.provider.url, routes, { mount }));
    const page = await setup.open('/console/modules/feed');
    await page.getByText('Also at news.example/feed').waitFor();
    const { host } = setup;
    const headers = [
      ['host', 'news.example'],
      ['x-request-id', 'feed-1'],
    ] as const;
    expect(
      (await call(host, { target: '/feed/latest', as: 'dev-system:x', headers })).status,
    ).to.equal(200);
    await page.goto(`${host.url}/console/calls?request_id=feed-1`);
    await page.getByRole('button', { name: 'GET /latest' }).click();
    await page.getByText('news.example/feed', { exact: true }).waitFor();
  });

  it('does not show a module again that goes while the list is read', async () => {
    const describe = (name: string) => describeModule(name, setup.provider.url, []);
    setup.drop('brief.json', describe('brief'));
    const page = await setup.open('/console/modules');
    const brief = page.getByRole('link', { name: 'brief', exact: true });
    await brief.waitFor();
    const hold = async (route: Route) => {
      const response = await route.fetch();
      setup.drop('brief.json', null);
      await brief.waitFor({ state: 'detached' });
      await route.fulfill({ response });
    };
    await page.route('**/console/api/modules', hold, { times: 1 });
    setup.drop('later.json', describe('later'));
    await page.getByRole('link', { name: 'later', exact: true }).waitFor();
    await brief.waitFor({ state: 'detached' });
    setup.drop('later.json', null);
  });

  it('shows a module when its file is added, and removes it with the file', async () => {
    const page = await setup.open('/console/modules');
    await page.getByRole('link', { name: 'crm', exact: true }).waitFor();
    const second = describeCrm(setup.provider.url, { module: 'second' });
    setup.drop('second.json', second);
    await page.getByRole('link', { name: 'second', exact: true }).click();
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    await page.getByRole('cell', { name: 'Contact 0', exact: true }).waitFor();
    setup.drop('second.json', null);
    await page.getByText('There is no module of this name').waitFor();
  });
}
