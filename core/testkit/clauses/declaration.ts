import assert from 'node:assert/strict';
import { describeConfig } from '../../contract/describe-config.js';
import { CONTRACT_VERSION, isAdapter } from '../../contract/index.js';
import { readProblems } from '../../contract/read-problems.js';
import type { AdapterClause } from '../clause.js';
import { createFakeOpenContext } from '../fakes/fake-open-context.js';
import { describeReference, ReferenceRoutes } from '../reference/reference-routes.js';
import { needs } from './needs.js';

const KIND = /^[a-z][a-z0-9-]*$/;
const UNKNOWN_KEY = 'modgate_testkit_unknown_key';

export const DECLARATION: readonly AdapterClause[] = [
  {
    id: 'adapter.brand',
    title: 'is created by defineAdapter for this contract version',
    run: async ({ adapter }) => {
      assert.ok(isAdapter(adapter), 'the adapter must have the brand of defineAdapter');
      assert.equal(adapter.contract, CONTRACT_VERSION, `contract must be ${CONTRACT_VERSION}`);
    },
  },
  {
    id: 'adapter.kind',
    title: 'has a kind that is valid in a descriptor',
    run: async ({ adapter }) => assert.match(adapter.kind, KIND, `kind must match ${KIND}`),
  },
  {
    id: 'config.unknown-keys',
    title: 'rejects unknown keys in its config',
    run: async (harness) => {
      const config = harness.reference.config as object;
      harness.check(config);
      const withUnknown = { ...config, [UNKNOWN_KEY]: 1 };
      const [error] = harness.adapter.config.validate(withUnknown, { coerce: true });
      assert.ok(error, 'config must reject an unknown key');
    },
  },
  {
    id: 'config.not-a-mapping',
    title: 'rejects a config that is not a mapping',
    run: async ({ adapter }) => {
      for (const value of [undefined, null, 'text', 7, [], true]) {
        const [error] = adapter.config.validate(value, { coerce: true });
        assert.ok(error, `config must reject ${JSON.stringify(value) ?? 'undefined'}`);
      }
    },
  },
  {
    id: 'operation.unknown-keys',
    title: 'rejects unknown keys in what its routes say to it',
    skip: needs('operation'),
    run: async ({ adapter, reference }) => {
      const { http_routes } = describeReference(adapter, reference);
      for (const { operation } of http_routes) {
        const value: unknown = Reflect.get(operation ?? {}, adapter.kind);
        const withUnknown = { ...(value as object), [UNKNOWN_KEY]: 1 };
        const [error] = adapter.operation?.validate(withUnknown, { coerce: true }) ?? [];
        assert.ok(error, 'operation must reject an unknown key');
      }
    },
  },
  {
    id: 'adapter.describe-config',
    title: 'describes its config, if at all, at once and alike for each call',
    run: async (harness) => {
      const config = harness.check(harness.reference.config as object);
      const description = describeConfig(harness.adapter, config);
      assert.deepEqual(
        describeConfig(harness.adapter, config),
        description,
        'describeConfig must return the same for each call',
      );
    },
  },
  {
    id: 'adapter.check-descriptor',
    title: 'finds no problem in a descriptor that asks for nothing but its config',
    skip: needs('checkDescriptor'),
    run: async (harness) => {
      const config = harness.check(harness.reference.config as object);
      const descriptor = { config, forward_headers: [], responses: { mode: 'envelope' } } as const;
      expectNone(harness.adapter.checkDescriptor?.(descriptor));
    },
  },
  {
    id: 'adapter.check-manifest',
    title: 'finds no problem in the manifest of its reference',
    skip: needs('checkManifest'),
    run: async ({ adapter, reference }) => {
      const { all } = new ReferenceRoutes(adapter, reference);
      const manifest = describeReference(adapter, reference);
      expectNone(adapter.checkManifest?.(manifest, all));
    },
  },
  {
    id: 'adapter.check-routes',
    title: 'finds a use for each route of its reference',
    skip: needs('checkRoutes'),
    run: async (harness) => {
      const { adapter, reference } = harness;
      const { all } = new ReferenceRoutes(adapter, reference);
      const config = harness.check(reference.config);
      const context = createFakeOpenContext(reference);
      const found = (async () => adapter.checkRoutes?.(config, all, context))();
      expectNone(await harness.wait.settles('checkRoutes', found));
    },
  },
];

function expectNone(found: unknown): void {
  const problems = readProblems(found);
  assert.deepEqual(
    problems.map(({ path, message }) => `${path.join('.')} ${message}`),
    [],
    'there must be no problem',
  );
}
