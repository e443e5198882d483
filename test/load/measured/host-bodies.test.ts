import { expect } from 'chai';
import type { ConfigField } from '../../../core/contract/index.js';
import {
  bridgeBody,
  bridgeTarget,
  createDescriptor,
  createManifest,
  httpProvider,
} from '../../support/bridge/bridge.js';
import { SAME_ORIGIN, signIn } from '../../support/console/console-client.js';
import { findDearRequests } from '../../support/dear-requests.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { createLongValues, listLongValues } from '../../support/http/long-values.js';
import { useHostProcess } from '../../support/http/use-host.js';

const MAX_MS = 50;
const MIB = 1_048_576;
/** Leaves room for the rest of a body. Bytes. */
const REST_BYTES = 600;
const USE = 'shop.use';
const CALLER = `dev-user:caller:${USE},modgate.approvals,modgate.releases`;

const bind = (input: string) =>
  ({ input, value: { kind: 'slot_context', path: 'bound' } }) as const;
const field = (key: string, type: ConfigField['type'], sensitive = false): ConfigField => ({
  ...{ service: 'shop', key, type, editable: true, sensitive },
});

const SHOP = createManifest('shop', {
  capabilities: [USE],
  admin: {
    entities: [{ name: 'items', read_capability: USE, list_path: '/items' }],
    actions: [
      { name: 'merge', capability: USE, invoke_path: '/merge' },
      {
        name: 'fit',
        capability: USE,
        invoke_path: '/fit',
        input_schema: {
          fields: [
            { name: 'any', type: 'json' },
            { name: 'text', type: 'string' },
            { name: 'since', type: 'timestamp' },
          ],
        },
      },
    ],
  },
  config: {
    read_capability: USE,
    write_capability: USE,
    fields: [
      field('any', { kind: 'json' }),
      field('secret', { kind: 'json' }, true),
      field('text', { kind: 'string' }),
      field('choice', { kind: 'enum', values: ['a'] }),
    ],
  },
  console_contributions: ['merge', 'fit'].map((name) => ({
    target: 'items',
    label: name,
    action: { kind: 'admin_action', module: 'shop', name, input_bindings: ['a', 'b'].map(bind) },
  })),
});

/** The payload of an operation around a value, or its body. */
const write = (payload: object) => (value: string) =>
  JSON.stringify(bridgeBody({ permission: USE, payload })).replace('"VALUE"', () => value);
const invoke = (action: string, input: unknown) =>
  write({ operation: 'admin_action_invoke', action, input });
const configure = (key: string) =>
  write({ operation: 'config_write', service: 'shop', key, value: 'VALUE' });

const ON_BRIDGE: Readonly<Record<string, (value: string) => string>> = {
  'a body': (value) => value,
  'a member of a body': (value) => `{"permission":${value}}`,
  'an unknown payload': write('VALUE' as unknown as object),
  'an unknown operation': write({ operation: 'VALUE' }),
  'an unknown member': write({ operation: 'config_values', unknown: 'VALUE' }),
  'an entity': write({ operation: 'admin_data_list', entity: 'VALUE' }),
  'a cursor': write({ operation: 'admin_data_list', entity: 'items', cursor: 'VALUE' }),
  'an action': write({ operation: 'admin_action_invoke', action: 'VALUE' }),
  'the input of an action': invoke('merge', 'VALUE'),
  'the input of an action with a schema': invoke('fit', 'VALUE'),
  'any field of an action': invoke('fit', { any: 'VALUE' }),
  'the text of an action': invoke('fit', { text: 'VALUE' }),
  'the time of an action': invoke('fit', { since: 'VALUE' }),
  'a setting': configure('any'),
  'a secret': configure('secret'),
  'a text of the configuration': configure('text'),
  'a choice of the configuration': configure('choice'),
  'a slot': write({ operation: 'contributions_resolve', target: 'VALUE' }),
  'an unused context': write({
    operation: 'contributions_resolve',
    target: 'items',
    context: 'VALUE',
  }),
  'a context': write({
    operation: 'contributions_resolve',
    target: 'items',
    context: { bound: 'VALUE' },
  }),
};

describe('bodies that the host reads', function () {
  this.timeout(600_000);
  let cookie = '';

  const setup = useHostProcess(
    ({ url }) => ({
      'shop.json': createDescriptor('shop', SHOP, [USE], { provider: httpProvider(url) }),
    }),
    { args: ['--surfaces', 'console', '--actor-rate', '0'] },
  );

  const post = (target: string, body: string) =>
    call(setup.host, {
      ...{ method: 'POST', target, as: CALLER, body: Buffer.from(body) },
      headers: [JSON_TYPE],
    });
  const postToConsole = (path: string, body: string) =>
    call(setup.host, {
      ...{ method: 'POST', target: `/console/api${path}`, as: null, body: Buffer.from(body) },
      headers: [JSON_TYPE, SAME_ORIGIN, ['cookie', cookie]],
    });

  const expectCheap = async (bytes: number, send: (value: string) => Promise<unknown>) => {
    const values = listLongValues(bytes);
    const requests = values.map(([name, value]) => [name, () => send(value)] as const);
    const { problems, dearest } = await findDearRequests(setup.host, requests, MAX_MS);
    console.log(`      ${dearest}`);
    expect(problems).to.deep.equal([]);
  };

  before(async () => {
    cookie = await signIn(setup.host, CALLER);
    const usual = ['members', 'strings'].map((name) => createLongValues(MIB - REST_BYTES)[name]);
    // Compiles the code.
    for (const value of usual) {
      for (const create of Object.values(ON_BRIDGE)) {
        for (let round = 0; round < 3; round += 1) {
          await post(bridgeTarget('shop', USE), create(value ?? ''));
        }
      }
    }
  });

  for (const [title, create] of Object.entries(ON_BRIDGE)) {
    it(`cost at most ${MAX_MS} ms on the console bridge, as ${title}`, () =>
      expectCheap(MIB - REST_BYTES, (value) => post(bridgeTarget('shop', USE), create(value))));
  }

  it(`cost at most ${MAX_MS} ms through the console`, () =>
    expectCheap(MIB - REST_BYTES, (value) =>
      postToConsole(bridgeTarget('shop', USE), invoke('merge', 'VALUE')(value)),
    ));

  it(`cost at most ${MAX_MS} ms at a sign-in`, () =>
    expectCheap(32_768 - REST_BYTES, (value) => postToConsole('/session', `{"token":${value}}`)));

  for (const [title, path, create] of [
    ['a decision', '/approvals/unknown', (value: string) => `{"decision":${value}}`],
    ['a rollback', '/rollback', (value: string) => `{"release":${value}}`],
  ] as const) {
    it(`cost at most ${MAX_MS} ms as ${title}`, () =>
      expectCheap(4096 - REST_BYTES, (value) => post(path, create(value))));
  }
});
