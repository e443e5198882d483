import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';

const ROUTES = [
  { method: 'GET', path: '/notes', capability: 'notes.read' },
  {
    method: 'POST',
    path: '/notes',
    capability: 'notes.write',
    operation: { operation_id: 'addNote' },
  },
];

describe('modgate check of what agents may call', () => {
  let place: Workplace;

  beforeEach(() => {
    place = createWorkplace();
  });
  afterEach(() => place.remove());

  const check = async (
    only: readonly string[] | null,
    routes: readonly RouteOptions[] = ROUTES,
  ) => {
    const mcp = { expose: 'read', ...(only !== null && { only }) };
    const notes = describeModule('notes', 'http://127.0.0.1:4100', routes, { mcp });
    const { manifest } = notes as { manifest: { inline: object } };
    const entities = [{ name: 'notes', read_capability: 'notes.read', list_path: '/notes' }];
    Object.assign(manifest.inline, { admin: { entities } });
    place.write('modules.d/notes.json', notes);
    const { code, findings } = await checkJsonIn(place);
    return {
      code,
      findings: findings.map(({ rule, severity, message, hint }) => {
        return { rule, severity, message, hint };
      }),
    };
  };

  it('accepts routes by either name, and entities', async () => {
    const only = ['get_notes', 'addNote', 'entity:notes'];
    expect(await check(only)).to.deep.equal({ code: 0, findings: [] });
  });

  it('warns of a name that no operation has', async () => {
    const shared = { rule: 'unknown-operation', severity: 'warning' };
    expect(await check(['get_notes', 'addNotes', 'action:archive'])).to.deep.equal({
      code: 0,
      findings: [
        {
          ...shared,
          message: "mcp.only names 'addNotes', which is not an operation of the manifest",
          hint: "did you mean 'addNote'?",
        },
        {
          ...shared,
          message: "mcp.only names 'action:archive', which is not an operation of the manifest",
          hint: 'see GET /operations for the names',
        },
      ],
    });
  });

  it('warns of arguments whose names model APIs do not take', async () => {
    const names = ['filter[name]', 'limit', '$top', 'id'];
    const properties = Object.fromEntries(names.map((name) => [name, true]));
    const operation = { query_schema: { type: 'object', properties } };
    const route = { method: 'GET', path: '/notes/{id}', capability: 'notes.read', operation };
    const others = "'id' is 'path_id', 'filter[name]' is 'filter_name', '$top' is 'top', 'id' is";
    expect(await check(null, [route])).to.deep.equal({
      code: 0,
      findings: [
        {
          rule: 'renamed-argument',
          severity: 'warning',
          message: `mcp: arguments of tools have other names than in requests: ${others} 'query_id'`,
          hint: 'model APIs take names of A-Z a-z 0-9 _ . - with at most 64 characters, each once in a tool',
        },
      ],
    });
    expect(await check(null)).to.deep.equal({ code: 0, findings: [] });
  });
});
