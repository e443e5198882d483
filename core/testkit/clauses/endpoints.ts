import assert from 'node:assert/strict';
import type { AdapterClause } from '../clause.js';

export const ENDPOINTS: readonly AdapterClause[] = [
  {
    id: 'endpoints.shape',
    title: 'names endpoints that differ, with a weight of at least 1, the same at each question',
    run: async (bench) => {
      const { provider } = await bench.open();
      const endpoints = provider.endpoints?.() ?? null;
      if (endpoints === null) return;
      assert.ok(endpoints.length > 0, 'endpoints must name at least one, or be absent');
      assert.equal(
        new Set(endpoints.map(({ id }) => id)).size,
        endpoints.length,
        'ids must differ',
      );
      for (const { weight } of endpoints) assert.ok(weight >= 1, 'a weight must be at least 1');
      assert.deepEqual(provider.endpoints?.(), endpoints);
    },
  },
  {
    id: 'endpoints.each',
    title: 'answers through each of its endpoints, and fails as unavailable for one it has not',
    run: async (bench) => {
      const opened = await bench.open();
      for (const { id: endpoint } of opened.provider.endpoints?.() ?? []) {
        const work = opened.invoke({ target: '/echo/endpoint' }, { endpoint });
        assert.equal((await bench.patience.settles('a call of an endpoint', work)).status, 200);
      }
      if (opened.provider.endpoints === undefined) return;
      const unknown = opened.invoke({ target: '/echo/x' }, { endpoint: 'modgate-testkit-unknown' });
      await bench.failureOf('a call of an endpoint that is not there', unknown, 'unavailable');
    },
  },
];
