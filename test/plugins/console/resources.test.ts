import { expect } from 'chai';
import type { HostResource } from '../../../core/contract/index.js';
import { LISTED_ROUTES } from '../../../core/http/routes/host-route-list.js';
import { callConsole, OPS, signIn } from '../../support/console/console-client.js';
import { parseJson } from '../../support/http/call.js';
import { useHost } from '../../support/http/use-host.js';

describe('what the console shows of the host', () => {
  const setup = useHost(() => ({}));

  async function readResources(cookie: string): Promise<readonly HostResource[]> {
    const session = parseJson(await callConsole(setup.host, { path: '/session', cookie }));
    return session['resources'] as HostResource[];
  }

  it('is listed by the session, with the scope, the tables and the page of each', async () => {
    const resources = await readResources(await signIn(setup.host));
    const find = (method: string, path: string) =>
      resources.find((resource) => resource.method === method && resource.path === path);
    expect(find('GET', '/audit')).to.deep.include({ scope: 'modgate.audit.read', page: null });
    expect(find('GET', '/audit')?.tables[0]?.columns['actor']).to.deep.equal({
      title: 'Actor',
      as: 'actor',
    });
    expect(find('GET', '/plugins')?.page).to.equal('Plugins');
    expect(find('GET', '/plugins')?.tables.map(({ rows }) => rows)).to.deep.equal([
      'plugins',
      'surfaces',
    ]);
    expect(find('POST', '/approvals/:id')).to.deep.include({ isForUsers: true, tables: [] });
  });

  it('is what the cookie of a session may call, and no other route of the host', async () => {
    const scopes = LISTED_ROUTES.flatMap(({ right }) =>
      right.kind === 'scope' ? right.scope : [],
    );
    const cookie = await signIn(setup.host, [OPS, ...scopes].join(','));
    const shown = new Set((await readResources(cookie)).map(({ path }) => path));
    for (const { path } of LISTED_ROUTES) {
      const target = path.replace(/[:*]\w+/g, 'a');
      const response = await callConsole(setup.host, { path: target, cookie });
      const { detail } = response.status === 404 ? parseJson(response) : { detail: '' };
      const isUnknown = String(detail).includes('no such path');
      expect(isUnknown, `${path}: ${response.status} ${detail}`).to.equal(!shown.has(path));
    }
  });
});
