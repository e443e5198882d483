import assert from 'node:assert/strict';
import {
  type AdminListOperation,
  type ConfigureOperation,
  isProviderFailure,
} from '../../contract/index.js';
import { textOf } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { EXACT_JSON, ITEM_COUNT } from '../reference/behaviors.js';
import { needs } from './needs.js';

const PAGE = 2;

const LIST = { kind: 'admin_list', entity: 'items', path: '/admin/items' } as const;

export const ADMINISTRATION: readonly AdapterClause[] = [
  {
    id: 'admin.list',
    title: 'requests each page of an entity with limit and cursor',
    skip: needs('admin'),
    run: async (harness) => {
      const opened = await harness.open();
      const ids: unknown[] = [];
      let cursor: string | null = null;
      do {
        const operation: AdminListOperation = { ...LIST, limit: PAGE, cursor };
        const outcome = await harness.wait.settles('admin_list', opened.invoke(operation));
        assert.equal(outcome.status, 200);
        const page = JSON.parse(textOf(outcome));
        assert.ok(page.records.length <= PAGE, `a page must have at most ${PAGE} records`);
        ids.push(...page.records.map(({ id }: { readonly id: unknown }) => id));
        cursor = page.next_cursor;
      } while (cursor !== null && ids.length <= ITEM_COUNT);
      assert.deepEqual(
        ids,
        Array.from({ length: ITEM_COUNT }, (_, index) => index),
      );
    },
  },
  {
    id: 'admin.action',
    title: "sends an action's input byte for byte",
    skip: needs('admin'),
    run: async (harness) => {
      const opened = await harness.open();
      const inputJson = Buffer.from(EXACT_JSON);
      const input: unknown = JSON.parse(EXACT_JSON);
      const operation = {
        kind: 'admin_action',
        action: 'act',
        path: '/admin/act',
        input,
        inputJson,
      } as const;
      const outcome = await harness.wait.settles('admin_action', opened.invoke(operation));
      assert.equal(outcome.status, 200);
      assert.equal(textOf(outcome), EXACT_JSON);
    },
  },
  {
    id: 'configure.delivers',
    title: 'delivers the revision and values of the configuration',
    skip: needs('configure'),
    run: async (harness) => {
      const opened = await harness.open();
      for (const revision of [0, 7]) {
        const values = { 'reference/size': revision + 1, 'reference/name': 'ä' };
        const operation = { kind: 'configure', path: '/config', revision, values } as const;
        const { status } = await harness.wait.settles('configure', opened.invoke(operation));
        assert.ok(status >= 200 && status <= 299, `a delivery must have a 2xx status: ${status}`);
        assert.deepEqual(await opened.read('/config'), { revision, values });
      }
    },
  },
  {
    id: 'configure.again',
    title: 'delivers the same revision again',
    skip: needs('configure'),
    run: async (harness) => {
      const opened = await harness.open();
      for (const deliveries of [1, 2]) {
        const { status } = await harness.wait.settles('configure', opened.invoke(deliver(7)));
        assert.ok(status >= 200 && status <= 299, `a delivery must have a 2xx status: ${status}`);
        assert.equal(await opened.read('/deliveries'), deliveries, 'each delivery must arrive');
      }
    },
  },
  {
    id: 'configure.older',
    title: 'delivers an older revision as well, and returns its rejection by the provider',
    skip: needs('configure'),
    run: async (harness) => {
      const opened = await harness.open();
      await harness.wait.settles('configure', opened.invoke(deliver(7)));
      // A transport without a status throws a failure.
      const work = opened.invoke(deliver(6)).then(
        ({ status }) => status,
        (error: unknown) => {
          if (isProviderFailure(error)) return null;
          throw error;
        },
      );
      const status = await harness.wait.settles('configure with an older revision', work);
      assert.ok(status === null || status > 299, `a rejection must not have the status ${status}`);
      assert.equal(await opened.read('/deliveries'), 2, 'an older revision must arrive');
      assert.deepEqual(await opened.read('/config'), { revision: 7, values: VALUES });
    },
  },
];

const VALUES = { 'reference/size': 1 };

function deliver(revision: number): ConfigureOperation {
  return { kind: 'configure', path: '/config', revision, values: VALUES };
}
