import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useEach } from '../../support/use.js';

const ROUTES = [
  { method: 'GET', path: '/notes', capability: 'notes.read' },
  {
    method: 'POST',
    path: '/notes',
    capability: 'notes.write',
    operation: { operation_id: 'addNote' },
  },
];

describe('modgate check of operations for agents', () => {
  const place = useEach(createWorkplace);

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

  it('warns of arguments whose names model APIs do not accept', async () => {
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
    expect(await check(['get_notes'])).to.deep.equal({ code: 0, findings: [] });
  });

  const checkFiles = async (files: Readonly<Record<string, object>>) => {
    for (const [file, descriptor] of Object.entries(files)) {
      place.write(`modules.d/${file}`, descriptor);
    }
    const { code, findings } = await checkJsonIn(place);
    return { code, messages: findings.map(({ rule, message }) => `${rule}: ${message}`) };
  };
  const describeNamed = (module: string, mcp: object, routes: readonly RouteOptions[] = ROUTES) =>
    describeModule(module, 'http://127.0.0.1:4100', routes, { mcp: { expose: 'all', ...mcp } });

  it('warns of a tool for an operation that does not exist', async () => {
    const tools = { get_note: { name: 'notes' }, get_notes: { name: 'all_notes' } };
    expect(await checkFiles({ 'a.json': describeNamed('a', { tools }) })).to.deep.equal({
      code: 0,
      messages: [
        "unknown-operation: mcp.tools names 'get_note', which is not an operation of the manifest",
      ],
    });
  });

  it('rejects the second of two files that give tools the same name', async () => {
    const tools = { get_notes: { name: 'all_notes' } };
    const files = {
      'a.json': describeNamed('a', { tools }),
      'b.json': describeNamed('b', { tools }),
    };
    expect(await checkFiles(files)).to.deep.equal({
      code: 1,
      messages: ["duplicate-tool: tool 'all_notes' is already named by a.json"],
    });
    const hidden = describeNamed('b', { tools, expose: 'none' });
    expect(await checkFiles({ ...files, 'b.json': hidden })).to.deep.equal({
      code: 0,
      messages: [],
    });
  });

  it('warns of entities and actions beside routes that seem to do the same', async () => {
    const twins = describeNamed('a', {}) as { manifest: { inline: object } };
    Object.assign(twins.manifest.inline, {
      admin: {
        entities: [{ name: 'all', read_capability: 'notes.read', list_path: '/admin/notes' }],
        actions: [
          { name: 'add', capability: 'notes.write', invoke_path: '/notes' },
          { name: 'sync', capability: 'notes.write', invoke_path: '/sync' },
        ],
      },
    });
    expect((await checkFiles({ 'a.json': twins })).messages).to.deep.equal([
      "twin-tools: mcp exposes 'entity:all' and 'get_notes', which seem to do the same",
      "twin-tools: mcp exposes 'action:add' and 'addNote', which seem to do the same",
    ]);
    const both = { ...twins, mcp: { expose: 'all', only: ['entity:all', 'get_notes'] } };
    expect((await checkFiles({ 'a.json': both })).messages).to.deep.equal([]);
  });
});
