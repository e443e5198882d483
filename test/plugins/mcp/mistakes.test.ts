import { expect } from 'chai';
import { describeModule, type RouteOptions } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callTool, listTools, postMcp, problemOf } from '../../support/mcp/mcp-call.js';

const TICKET = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string' },
    text: { type: ['string', 'null'] },
    priority: { enum: ['low', 'high'] },
    tags: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
};

const ROUTES: readonly RouteOptions[] = [
  {
    ...{ method: 'GET', path: '/tickets/{id}', capability: 'desk.use' },
    operation: {
      operation_id: 'get_ticket',
      query_schema: {
        type: 'object',
        properties: {
          limit: { type: 'integer' },
          'filter[state]': { enum: ['open', 'closed'] },
          full: { type: 'boolean' },
        },
      },
    },
  },
  {
    ...{ method: 'POST', path: '/tickets', capability: 'desk.use' },
    operation: { operation_id: 'add_ticket', input_schema: TICKET },
  },
  {
    ...{ method: 'PATCH', path: '/tickets/{id}', capability: 'desk.use' },
    operation: { operation_id: 'change', body: 'optional', input_schema: TICKET },
  },
  {
    ...{ method: 'PUT', path: '/notes/{path...}', capability: 'desk.use' },
    operation: { operation_id: 'put_note', body: 'bytes', body_types: ['text/plain'] },
  },
];

const ADMIN = {
  entities: [{ name: 'agents', read_capability: 'desk.use', list_path: '/agents' }],
  actions: [
    {
      ...{ name: 'assign', capability: 'desk.use', invoke_path: '/assign' },
      input_schema: {
        fields: [
          { name: 'ticket', type: 'integer', required: true },
          { name: 'agent', type: 'string' },
        ],
      },
    },
  ],
};

function describeDesk(url: string): object {
  const desk = describeModule('desk', url, ROUTES, { mcp: { expose: 'all', approve: 'never' } });
  Object.assign((desk as { manifest: { inline: object } }).manifest.inline, { admin: ADMIN });
  return desk;
}

/** What a model sends, and for each wrong argument what the error says of it. */
type Mistake = readonly [tool: string, text: string, errors: Readonly<Record<string, string>>];

const BODY =
  'object with title (string, required), text (string or null), priority (one of "low", "high"), tags (list of string)';
const INPUT = 'object with ticket (integer, required), agent (string)';

const MISTAKES: readonly Mistake[] = [
  ['get_ticket', '{}', { id: 'missing: expected string' }],
  [
    'get_ticket',
    '{"ticket_id":"7"}',
    { ticket_id: 'unknown: leave it out', id: 'missing: expected string' },
  ],
  [
    'get_ticket',
    '{"ID":"7"}',
    { ID: "unknown: did you mean 'id'?", id: 'missing: expected string' },
  ],
  ['get_ticket', '{"id":null}', { id: 'null: expected string' }],
  ['get_ticket', '{"id":{"value":7}}', { id: 'an object: expected a string, number or boolean' }],
  ['get_ticket', '{"id":["7"]}', { id: 'an array: expected a string, number or boolean' }],
  ['get_ticket', '{"id":""}', { id: 'empty: expected a string' }],
  [
    'get_ticket',
    '{"id":"../x"}',
    { id: "not a path: expected segments other than '', '.' and '..'" },
  ],
  ['get_ticket', '{"id":"7","Limit":1}', { Limit: "unknown: did you mean 'limit'?" }],
  ['get_ticket', '{"id":"7","limits":1}', { limits: "unknown: did you mean 'limit'?" }],
  [
    'get_ticket',
    '{"id":"7","filter[state]":"open"}',
    { 'filter[state]': "unknown: did you mean 'filter_state'?" },
  ],
  [
    'get_ticket',
    '{"id":"7","filterState":"open"}',
    { filterState: "unknown: did you mean 'filter_state'?" },
  ],
  [
    'get_ticket',
    '{"id":"7","query":{"limit":1}}',
    { query: "unknown: put its members beside the other arguments, not into 'query'" },
  ],
  [
    'get_ticket',
    '{"arguments":{"id":"7"}}',
    {
      arguments: "unknown: put its members beside the other arguments, not into 'arguments'",
      id: 'missing: expected string',
    },
  ],
  [
    'get_ticket',
    '{"params":{"id":"7"}}',
    {
      params: "unknown: put its members beside the other arguments, not into 'params'",
      id: 'missing: expected string',
    },
  ],
  ['get_ticket', '{"id":"7","body":{}}', { body: 'unknown: leave it out' }],
  [
    'get_ticket',
    '{"id":"7","verbose":true,"x":1}',
    { verbose: 'unknown: leave it out', x: 'unknown: leave it out' },
  ],
  ['get_ticket', '{"id":"7","limit":"many"}', { limit: 'invalid: expected integer' }],
  ['get_ticket', '{"id":"7","limit":1.5}', { limit: 'invalid: expected integer' }],
  [
    'get_ticket',
    '{"id":"7","limit":{"gt":1}}',
    { limit: 'an object: expected a string, number or boolean' },
  ],
  ['get_ticket', '{"id":"7","full":"yes"}', { full: 'invalid: expected boolean' }],
  [
    'get_ticket',
    '{"id":"7","filter_state":"opened"}',
    { filter_state: 'invalid: expected one of "open", "closed"' },
  ],
  [
    'get_ticket',
    '"{\\"id\\":\\"7\\"}"',
    { arguments: 'a string: expected an object, not a text of JSON' },
  ],
  ['get_ticket', '["7"]', { arguments: 'an array: expected an object' }],
  ['get_ticket', '7', { arguments: 'a number: expected an object' }],
  [
    'add_ticket',
    '{"title":"a"}',
    { title: "unknown: put it into 'body'", body: `missing: expected ${BODY}` },
  ],
  [
    'add_ticket',
    '{"title":"a","text":"b"}',
    {
      title: "unknown: put it into 'body'",
      text: "unknown: put it into 'body'",
      body: `missing: expected ${BODY}`,
    },
  ],
  [
    'add_ticket',
    '{"ticket":{"title":"a"}}',
    { ticket: "unknown: put it into 'body'", body: `missing: expected ${BODY}` },
  ],
  ['add_ticket', '{"body":{},"priority":"low"}', { priority: "unknown: put it into 'body'" }],
  ['add_ticket', '{"body":null}', { body: `null: expected ${BODY}` }],
  ['add_ticket', '{"body":"{\\"title\\":\\"a\\"}"}', { body: 'invalid: expected object' }],
  ['add_ticket', '{"body":["a"]}', { body: 'invalid: expected object' }],
  ['add_ticket', '{"body":{}}', { 'body/title': 'missing: expected string' }],
  ['add_ticket', '{"body":{"title":7}}', { 'body/title': 'invalid: expected string' }],
  ['add_ticket', '{"body":{"title":"a","tags":"b"}}', { 'body/tags': 'invalid: expected array' }],
  [
    'add_ticket',
    '{"body":{"title":"a","tags":[1]}}',
    { 'body/tags/0': 'invalid: expected string' },
  ],
  [
    'add_ticket',
    '{"body":{"title":"a","priority":"urgent"}}',
    { 'body/priority': 'invalid: expected one of "low", "high"' },
  ],
  ['add_ticket', '{"body":{"title":"a","names":1}}', { 'body/names': 'unexpected' }],
  [
    'add_ticket',
    '{"body":{"title":"a","n":12345678901234567890}}',
    {
      arguments:
        'not exact, with a number that a parser would change: expected a number of fewer digits, or a string where the tool takes one',
    },
  ],
  [
    'put_note',
    '{"path":"a","body":{"text":"b"}}',
    { body: 'an object: expected a string, the text to send' },
  ],
  [
    'put_note',
    '{"path":"/a","body":"b"}',
    { path: "not a path: expected segments other than '', '.' and '..'" },
  ],
  ['list_agents', '{"limit":"5"}', { limit: 'not a whole number: expected integer' }],
  ['list_agents', '{"page":2}', { page: 'unknown: leave it out' }],
  [
    'assign',
    '{"ticket":7}',
    { ticket: "unknown: put it into 'body'", body: `missing: expected ${INPUT}` },
  ],
  ['assign', '{"body":{"ticket":"7"}}', { 'body.ticket': 'invalid: expected integer' }],
  ['assign', '{"body":{}}', { 'body.ticket': 'missing: expected integer' }],
];

describe('mistakes of models', () => {
  const setup = useHost(({ url }) => ({ 'desk.json': describeDesk(url) }), {
    args: ['--surfaces', 'mcp'],
    isDescribed: false,
  });

  for (const [id, text, expected] of MISTAKES) {
    it(`are explained: ${id} with ${text}`, async () => {
      const tool = `desk_${id}`;
      const problem = problemOf(await callTool(setup.host, tool, text));
      const { errors, takes, detail, next_actions, request_id } = problem;
      const listed = errors as { field: string; reason: string }[];
      expect(Object.fromEntries(listed.map(({ field, reason }) => [field, reason]))).to.deep.equal(
        expected,
      );
      const [first] = listed;
      expect(problem).to.include({ code: 'validation_failed', tool });
      expect(detail).to.equal(`${tool}: '${first?.field}' is ${first?.reason}`);
      const listedTool = (await listTools(setup.host)).find(({ name }) => name === tool);
      expect(takes).to.have.all.keys(Object.keys(Object(listedTool?.inputSchema['properties'])));
      expect((next_actions as string[]).at(-1)).to.equal(
        `correct what errors names, and call ${tool} again: takes and the inputSchema of the tool say what it may be`,
      );
      expect(request_id).to.match(/^req_/);
      expect(setup.provider.requests).to.deep.equal([]);
    });
  }

  for (const [id, text, target, body] of [
    ['get_ticket', '{"id":7,"limit":null,"full":null}', '/tickets/7', ''],
    ['get_ticket', '{"id":"7","limit":"5"}', '/tickets/7?limit=5', ''],
    ['change', '{"id":"7","body":null}', '/tickets/7', ''],
    [
      'change',
      '{"id":"7","body":{"title":"a","text":null}}',
      '/tickets/7',
      '{"title":"a","text":null}',
    ],
    ['list_agents', '{"limit":null,"cursor":null}', '/agents?limit=100', ''],
    ['list_agents', 'null', '/agents?limit=100', ''],
  ] as const) {
    it(`do not include null for an absent argument: ${id} with ${text}`, async () => {
      setup.provider.answer({ body: '{"records":[]}' });
      expect((await callTool(setup.host, `desk_${id}`, text)).isError).to.equal(undefined);
      const sent = setup.provider.only();
      expect([sent.target, sent.body.toString()]).to.deep.equal([target, body]);
    });
  }

  it('say what the tool takes', async () => {
    const { takes } = problemOf(await callTool(setup.host, 'desk_get_ticket'));
    expect(takes).to.deep.equal({
      ...{ id: 'string, required', limit: 'integer', full: 'boolean' },
      filter_state: 'one of "open", "closed"',
    });
  });

  for (const [name, near] of [
    ['get_ticket', "did you mean 'desk_get_ticket'"],
    ['desk.get_ticket', "did you mean 'desk_get_ticket'"],
    ['deskGetTickets', "did you mean 'desk_get_ticket'"],
    ['desk_ticket_get', "did you mean 'desk_get_ticket'"],
    ['weather', 'tools/list has those that you may call'],
  ] as const) {
    it(`are explained: the tool ${name}`, async () => {
      const params = `"name":"${name}","arguments":{}`;
      const { body } = await postMcp(setup.host, { method: 'tools/call', params });
      expect(body.toString()).to.include(`Unknown tool: ${name}: ${near}`);
      const denied = await postMcp(setup.host, {
        method: 'tools/call',
        params,
        as: 'dev-service:x',
      });
      expect(denied.body.toString()).not.to.include("desk_get_ticket'");
    });
  }

  it('are explained in the tools that find other tools', async () => {
    const routes = Array.from({ length: 41 }, (_, index) => {
      return { method: 'GET', path: `/r${index}`, capability: 'desk.use' };
    });
    setup.host.drop(
      'many.json',
      describeModule('many', setup.provider.url, routes, { mcp: { expose: 'read' } }),
    );
    await waitUntil('the tools are many', async () => (await listTools(setup.host)).length < 10);
    const errorsOf = async (name: string, text: string) => {
      const { errors } = problemOf(await callTool(setup.host, name, text));
      return (errors as { field: string; reason: string }[]).map(
        ({ field, reason }) => `${field}: ${reason}`,
      );
    };
    expect(await errorsOf('call_tool', '{"name":"desk_get_ticket","id":"7"}')).to.deep.equal([
      "id: unknown: put it into 'arguments'",
    ]);
    expect(await errorsOf('call_tool', '{"tool":"desk_get_ticket"}')).to.deep.equal([
      "tool: unknown: put it into 'arguments'",
      'name: missing: expected string',
    ]);
    expect(
      await errorsOf('call_tool', '{"name":"desk_get_ticket","arguments":"{}"}'),
    ).to.deep.equal(['arguments: a string: expected an object, not a text of JSON']);
    const near = "name: no tool that you may call: did you mean 'desk_get_ticket'?";
    expect(await errorsOf('describe_tool', '{"name":"get_ticket"}')).to.deep.equal([near]);
    expect(await errorsOf('call_tool', '{"name":"get_ticket"}')).to.deep.equal([near]);
    expect(await errorsOf('search_tools', '{"query":7}')).to.deep.equal([
      'query: a number: expected a string',
    ]);
    expect(await errorsOf('search_tools', '{}')).to.deep.equal(['query: missing: expected string']);
  });
});
