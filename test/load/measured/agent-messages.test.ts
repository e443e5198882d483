import { expect } from 'chai';
import { findDearRequests } from '../../support/dear-requests.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { createLongValues, listLongValues } from '../../support/http/long-values.js';
import { describeModule } from '../../support/http/modules.js';
import { useHostProcess } from '../../support/http/use-host.js';
import { parseRpc } from '../../support/mcp/mcp-call.js';

const MAX_MS = 50;
const NOBODY = 'dev-service:nobody';
const AGENT = 'dev-service:agent:shop.use';
const PERSON = 'dev-user:person:modgate.approvals';

const ROUTES = [
  { method: 'POST', path: '/items', capability: 'shop.use' },
  {
    method: 'GET',
    path: '/items',
    capability: 'shop.use',
    operation: { query_schema: { type: 'object', properties: { q: { type: 'array' } } } },
  },
];
const ADMIN = {
  entities: [{ name: 'items', read_capability: 'shop.use', list_path: '/items' }],
  actions: [
    { name: 'merge', capability: 'shop.use', invoke_path: '/merge' },
    {
      name: 'fit',
      capability: 'shop.use',
      invoke_path: '/fit',
      input_schema: { fields: [{ name: 'any', type: 'json' }] },
    },
  ],
};

/** Leaves room for the rest of a message of 1 MiB. Bytes. */
const VALUE_BYTES = 1_048_576 - 1000;
/** The longest arguments that a person can approve. */
const APPROVED_BYTES = 49_152 - 100;

const MESSAGES: Readonly<Record<string, (value: string) => string>> = {
  'the arguments of a tool': (value) => createCall('shop_post_items', `{"body":${value}}`),
  'the query of a tool': (value) => createCall('shop_get_items', `{"q":${value}}`),
  'the input of an action': (value) => createCall('shop_merge', `{"body":${value}}`),
  'a field of an action': (value) => createCall('shop_fit', `{"body":{"any":${value}}}`),
  'the input of an action to approve': (value) => createCall('asked_merge', `{"body":${value}}`),
  'the arguments of a tool to approve': (value) =>
    createCall('asked_post_items', `{"body":${value}}`),
  'the cursor of an entity': (value) => createCall('shop_items', `{"cursor":${value}}`),
  'all arguments': (value) => createCall('shop_post_items', value),
  'an unknown tool': (value) => createCall('unknown', value),
  'a search': (value) => createCall('search_tools', `{"query":${value}}`),
  'a called tool': (value) =>
    createCall('call_tool', `{"name":"shop_post_items","arguments":{"body":${value}}}`),
  'the name of a tool': (value) => createMessage('tools/call', `{"name":${value}}`),
  'an unknown method': (value) => createMessage('unknown', value),
  'the start': (value) => createMessage('initialize', `{"capabilities":${value}}`),
  'the context': (value) => createMessage('tools/list', `{"_meta":{"a":${value}}}`),
  'a batch': (value) => `[${value}]`,
  'an id': (value) => `{"jsonrpc":"2.0","id":${value},"method":"tools/list"}`,
};

function createCall(name: string, args: string): string {
  return createMessage('tools/call', `{"name":"${name}","arguments":${args}}`);
}

function createMessage(method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
}

describe('messages of agents of 1 MiB', function () {
  this.timeout(600_000);

  const setup = useHostProcess(
    ({ url }) => {
      const describe = (name: string, approve: string) => {
        const described = describeModule(name, url, ROUTES, { mcp: { expose: 'all', approve } });
        const { manifest } = described as { manifest: { inline: object } };
        Object.assign(manifest.inline, { admin: ADMIN });
        return described;
      };
      return { 'shop.json': describe('shop', 'never'), 'asked.json': describe('asked', 'always') };
    },
    { args: ['--surfaces', 'mcp', '--actor-rate', '0'] },
  );

  const send = (body: string, as: string) =>
    call(setup.host, {
      ...{ method: 'POST', target: '/mcp', as, body: Buffer.from(body) },
      headers: [
        JSON_TYPE,
        ['accept', 'application/json, text/event-stream'],
        ['mcp-protocol-version', '2025-11-25'],
      ],
    });

  before(async () => {
    // Compiles the code.
    const { members = '', strings = '' } = createLongValues(VALUE_BYTES);
    for (const value of [members, strings]) {
      for (const create of Object.values(MESSAGES)) {
        for (const as of [NOBODY, NOBODY, AGENT]) await send(create(value), as);
      }
    }
  });

  for (const [place, create] of Object.entries(MESSAGES)) {
    it(`cost at most ${MAX_MS} ms, whatever is in ${place}`, async () => {
      const requests = listLongValues(VALUE_BYTES).flatMap(([name, value]) =>
        [NOBODY, AGENT].map((as) => [`${name} of ${as}`, () => send(create(value), as)] as const),
      );
      const { problems, dearest } = await findDearRequests(setup.host, requests, MAX_MS);
      console.log(`      ${dearest}`);
      expect(problems).to.deep.equal([]);
    });
  }

  it(`cost at most ${MAX_MS} ms until a person has read and rejected them`, async () => {
    const values = listLongValues(APPROVED_BYTES);
    const requests = values.map(([name, value]) => {
      const askAndReject = async () => {
        const { body } = await send(createCall('asked_merge', `{"body":${value}}`), AGENT);
        const [id] = /apr_[\w-]{20}/.exec(body.toString()) ?? [];
        if (id === undefined) return;
        const target = `/approvals/${id}`;
        expect((await call(setup.host, { target, as: PERSON })).status).to.equal(200);
        await call(setup.host, {
          ...{ method: 'POST', target, as: PERSON, headers: [JSON_TYPE] },
          body: Buffer.from('{"decision":"reject"}'),
        });
      };
      return [name, askAndReject] as const;
    });
    const { problems, dearest } = await findDearRequests(setup.host, requests, MAX_MS);
    console.log(`      ${dearest}`);
    expect(problems).to.deep.equal([]);
  });

  it('are rejected beyond 20,000 values, with the number', async () => {
    const respond = async (count: number) => {
      const text = `{"a":[${'0,'.repeat(count - 1)}0]}`;
      return parseRpc((await send(createCall('unknown', text), AGENT)).body).error;
    };
    // Beside these are the message with four members, the name, the arguments and the list.
    expect((await respond(19_992))?.message).to.match(/^Unknown tool: unknown/);
    const error = await respond(19_993);
    expect(error).to.include({ code: -32_602 });
    expect(error?.message).to.include('20000');
  });
});
