import assert from 'node:assert/strict';
import { CONTRACT_VERSION, isAdapter } from '../../contract/index.js';
import type { AdapterClause } from '../clause.js';

const KIND = /^[a-z][a-z0-9-]*$/;
const UNKNOWN_KEY = 'modgate_testkit_unknown_key';

export const DECLARATION: readonly AdapterClause[] = [
  {
    id: 'adapter.brand',
    title: 'is made by defineAdapter, for this contract',
    run: async ({ adapter }) => {
      assert.ok(isAdapter(adapter), 'the adapter must carry the brand that defineAdapter gives');
      assert.equal(adapter.contract, CONTRACT_VERSION, `contract must be ${CONTRACT_VERSION}`);
    },
  },
  {
    id: 'adapter.kind',
    title: 'has a kind that a descriptor can name',
    run: async ({ adapter }) => assert.match(adapter.kind, KIND, `kind must match ${KIND}`),
  },
  {
    id: 'config.unknown-keys',
    title: 'refuses unknown keys in its config',
    run: async (bench) => {
      const config = bench.reference.config as object;
      bench.check(config);
      const withUnknown = { ...config, [UNKNOWN_KEY]: 1 };
      const [error] = bench.adapter.config.validate(withUnknown, { coerce: true });
      assert.ok(error, 'config must refuse a key that it does not know');
    },
  },
  {
    id: 'config.not-a-mapping',
    title: 'refuses a config that is no mapping',
    run: async ({ adapter }) => {
      for (const value of [undefined, null, 'text', 7, [], true]) {
        const [error] = adapter.config.validate(value, { coerce: true });
        assert.ok(error, `config must refuse ${JSON.stringify(value) ?? 'undefined'}`);
      }
    },
  },
];
