import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { callTool, listTools, problemOf } from '../../support/mcp/mcp-call.js';

const CLERK = 'dev-user:ann:crm.contacts,crm.merge';

const ADMIN = {
  entities: [
    { name: 'contacts', read_capability: 'crm.contacts', list_path: '/admin/contacts' },
    { name: 'deals', read_capability: 'crm.deals', list_path: '/admin/deals' },
  ],
  actions: [
    {
      name: 'merge',
      label: 'Merge',
      capability: 'crm.merge',
      invoke_path: '/admin/merge',
      danger_level: 'low',
      input_schema: { fields: [{ name: 'id', type: 'integer', required: true }] },
    },
  ],
};

function describeCrm(url: string, expose: string): object {
  const crm = describeModule('crm', url, [], { mcp: { expose } });
  const { manifest } = crm as { manifest: { inline: object } };
  const capabilities = ['crm.contacts', 'crm.deals', 'crm.merge'];
  Object.assign(manifest.inline, { admin: ADMIN, capabilities });
  return { ...crm, manifest };
}

describe('entities and actions as tools', () => {
  const setup = useHost(
    ({ url }) => ({
      'crm.json': describeCrm(url, 'all'),
      'read.json': { ...describeCrm(url, 'read'), module: 'read' },
    }),
    { args: ['--surfaces', 'mcp'] },
  );
  const audit = async () => {
    const { rows } = parseJson(await call(setup.host, { target: '/audit?module=crm' }));
    return rows as Record<string, unknown>[];
  };

  it('are those whose capability the caller holds, without a grant of a console', async () => {
    const tools = await listTools(setup.host, { as: CLERK });
    expect(tools.map(({ name }) => name)).to.deep.equal([
      'crm_list_contacts',
      'crm_merge',
      'read_list_contacts',
    ]);
    expect(tools[1]?.inputSchema).to.deep.include({
      required: ['body'],
      properties: {
        body: {
          type: 'object',
          properties: { id: { type: 'integer' } },
          required: ['id'],
          additionalProperties: false,
        },
      },
    });
  });

  it('give a page with the bytes of the provider', async () => {
    const body = '{"records": [{"id":1.0}], "next_cursor": "b"}';
    setup.provider.answer({ body });
    const args = '{"limit":5,"cursor":"a b"}';
    const result = await callTool(setup.host, 'crm_list_contacts', args, { as: CLERK });
    expect(result.content[0]?.text).to.equal(body);
    expect(setup.provider.only().target).to.equal('/admin/contacts?limit=5&cursor=a%20b');
  });

  it('invoke actions with the bytes of the input, and leave a row in the audit', async () => {
    setup.provider.answer({ body: '"done"' });
    const result = await callTool(setup.host, 'crm_merge', '{"body": { "id":7.0} }', { as: CLERK });
    expect(result.content[0]?.text).to.equal('"done"');
    const { target, body } = setup.provider.only();
    expect([target, body.toString()]).to.deep.equal(['/admin/merge', '{ "id":7.0}']);
    expect((await audit()).at(-1)).to.include({
      operation: 'admin_action_invoke',
      target: 'merge',
      permission: 'crm.merge',
      outcome: 'ok',
    });
  });

  it('reject inputs that do not fit, and calls without the capability', async () => {
    const { host, provider } = setup;
    const wrong = problemOf(
      await callTool(host, 'crm_merge', '{"body":{"id":"7"}}', { as: CLERK }),
    );
    expect(wrong['errors']).to.deep.equal([
      { field: 'body.id', reason: 'invalid: expected integer' },
    ]);
    const denied = await callTool(host, 'crm_list_deals', '{}', { as: CLERK });
    expect(problemOf(denied)).to.include({ code: 'forbidden' });
    expect(provider.requests).to.deep.equal([]);
  });

  it('are calls of the module in the records', async () => {
    setup.provider.answer({ body: '{"records":[]}' });
    await callTool(setup.host, 'crm_list_contacts', '{}', { as: CLERK });
    const { calls } = parseJson(await call(setup.host, { target: '/calls?module=crm&limit=1' }));
    expect((calls as object[])[0]).to.include({
      surface: 'mcp',
      route: 'entity:contacts',
      status: 200,
      actor: 'user:ann',
    });
  });

  it('are not called over HTTP without a surface', async () => {
    const body = Buffer.from('{"module":"crm","operation":"entity:contacts"}');
    const request = { method: 'POST', target: '/operations', headers: [JSON_TYPE], body };
    expectProblem(await call(setup.host, request), 403);
    expect(setup.provider.requests).to.deep.equal([]);
  });
});
