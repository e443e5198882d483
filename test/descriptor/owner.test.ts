import { expect } from 'chai';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const OWNER = {
  name: 'Team CRM',
  contact: 'mailto:crm@team.example',
  docs: 'https://team.example/crm',
};
const ADVICE =
  'ask the owner of the module: Team CRM, mailto:crm@team.example, https://team.example/crm';
/** Nothing listens on it. */
const CLOSED = 'http://127.0.0.1:1';

describe('the owner of a module', () => {
  const setup = useHost(({ url }) => ({
    'owned.json': describeModule('owned', url, ROUTES, { owner: OWNER }),
    'gone.json': describeModule('gone', CLOSED, ROUTES, { owner: { contact: '#crm' } }),
    'empty.json': describeModule('empty', url, ROUTES, { owner: {} }),
    'plain.json': describeModule('plain', url, ROUTES),
    'raw.json': describeModule('raw', url, ROUTES, {
      owner: { name: 'A < B', docs: 'http://team.example/' },
      responses: { mode: 'raw' },
    }),
  }));
  const read = async (target: string) => parseJson(await call(setup.host, { target }));
  const failWith = async (module: string) => {
    setup.provider.answer({ status: 500, body: '{}' });
    const response = await call(setup.host, { target: `/modules/${module}/http/items` });
    return expectProblem(response, 502);
  };

  it('is in GET /modules as written, and absent without one', async () => {
    const { modules } = (await read('/modules')) as {
      modules: { name: string; owner?: unknown }[];
    };
    const owners = Object.fromEntries(modules.map(({ name, owner }) => [name, owner]));
    expect(owners).to.deep.equal({
      owned: OWNER,
      gone: { contact: '#crm' },
      empty: {},
      plain: undefined,
      raw: { name: 'A < B', docs: 'http://team.example/' },
    });
  });

  it('is in GET /explain, and absent without one', async () => {
    const explain = async (module: string) => {
      const target = encodeURIComponent(`/modules/${module}/http/items`);
      const { module: explained } = (await read(`/explain?method=GET&target=${target}`)) as {
        module: { owner?: unknown };
      };
      return explained.owner;
    };
    expect(await explain('owned')).to.deep.equal(OWNER);
    expect(await explain('plain')).to.equal(undefined);
  });

  it('is in the tag of the module in the API description', async () => {
    const { tags } = (await read('/openapi.json')) as { tags: unknown };
    expect(tags).to.deep.equal([
      { name: 'empty' },
      { name: 'gone', description: 'Owner: #crm' },
      {
        name: 'owned',
        description: 'Owner: Team CRM, mailto:crm@team.example',
        externalDocs: { url: 'https://team.example/crm' },
      },
      { name: 'plain' },
      { name: 'raw', description: 'Owner: A < B, http://team.example/' },
    ]);
  });

  it('is named by a 502 for an error status of the provider', async () => {
    expect((await failWith('owned')).next_actions).to.deep.equal([ADVICE]);
  });

  it('is named by a 502 for a provider that cannot be reached', async () => {
    const response = await call(setup.host, { target: '/modules/gone/http/items' });
    const problem = expectProblem(response, 502);
    expect(reasonOf(problem, 'failure')).to.equal('unavailable');
    expect(problem.next_actions).to.deep.equal([
      'try again later',
      'ask the owner of the module: #crm',
    ]);
  });

  for (const module of ['plain', 'empty']) {
    it(`is not named by a 502 of ${module}, which has none`, async () => {
      expect((await failWith(module)).next_actions).to.deep.equal(['ask the owners of the module']);
    });
  }
});
