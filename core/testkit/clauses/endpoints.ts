import assert from 'node:assert/strict';
import type { AdapterClause } from '../clause.js';

/** The maximum that the host accepts. */
const MAX_FOUND = 256;

export const ENDPOINTS: readonly AdapterClause[] = [
  {
    id: 'endpoints.shape',
    title: 'returns the same endpoints each time, with distinct ids and weights of at least 1',
    run: async (harness) => {
      const { provider } = await harness.open();
      const endpoints = provider.endpoints?.() ?? null;
      if (endpoints === null) return;
      assert.ok(endpoints.length > 0, 'endpoints must return at least one, or be absent');
      assert.equal(
        new Set(endpoints.map(({ id }) => id)).size,
        endpoints.length,
        'ids must be distinct',
      );
      for (const { weight } of endpoints) assert.ok(weight >= 1, 'a weight must be at least 1');
      assert.deepEqual(provider.endpoints?.(), endpoints);
    },
  },
  {
    id: 'endpoints.follow',
    title: 'follows its endpoints from those that it returns, with distinct ids, at most 256',
    run: async (harness) => {
      const { provider } = await harness.open();
      if (provider.followEndpoints === undefined) return;
      const { endpoints, resolveFailures } = provider.followEndpoints(() => {});
      assert.ok(endpoints.length <= MAX_FOUND, `there must be at most ${MAX_FOUND} endpoints`);
      assert.equal(
        new Set(endpoints.map(({ id }) => id)).size,
        endpoints.length,
        'ids must be distinct',
      );
      assert.deepEqual(provider.endpoints?.() ?? [], endpoints, 'endpoints must return the same');
      assert.ok(resolveFailures >= 0, 'resolveFailures must be a count');
    },
  },
  {
    id: 'endpoints.each',
    title: 'calls each of its endpoints, and fails as unavailable for an unknown one',
    run: async (harness) => {
      const opened = await harness.open();
      for (const { id: endpoint } of opened.provider.endpoints?.() ?? []) {
        const work = opened.invoke({ target: '/echo/endpoint' }, { endpoint });
        assert.equal((await harness.wait.settles('a call of an endpoint', work)).status, 200);
      }
      if (opened.provider.endpoints === undefined) return;
      const unknown = opened.invoke({ target: '/echo/x' }, { endpoint: 'modgate-testkit-unknown' });
      await harness.failureOf('a call of an unknown endpoint', unknown, 'unavailable');
    },
  },
];
