import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';
import { describeModule } from '../../support/http/modules.js';

const ROUTES = [
  { method: 'GET', path: '/notes', capability: 'notes.read' },
  {
    method: 'POST',
    path: '/notes',
    capability: 'notes.write',
    operation: { operation_id: 'addNote' },
  },
];

describe('modgate check of mcp.only', () => {
  let place: Workplace;

  beforeEach(() => {
    place = createWorkplace();
  });
  afterEach(() => place.remove());

  const check = async (only: readonly string[]) => {
    const mcp = { expose: 'read', only };
    const notes = describeModule('notes', 'http://127.0.0.1:4100', ROUTES, { mcp });
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
});
