import assert from 'node:assert/strict';
import { balancing, endpointList, foundEndpoints } from '../../contract/provider-rules.js';
import { assertValid } from '../assert-valid.js';
import type { AdapterClause } from '../clause.js';

export const ENDPOINTS: readonly AdapterClause[] = [
  {
    id: 'endpoints.shape',
    title: 'returns the same endpoints each time, with distinct ids and weights of at least 1',
    run: async (harness) => {
      const { provider } = await harness.open();
      if (provider.endpoints === undefined) return;
      const endpoints = provider.endpoints();
      assertValid('endpoints', endpoints, endpointList);
      assert.deepEqual(provider.endpoints(), endpoints, 'endpoints must return the same each time');
    },
  },
  {
    id: 'endpoints.follow',
    title: 'follows its endpoints from those that it returns, with distinct ids, at most 256',
    run: async (harness) => {
      const { provider } = await harness.open();
      if (provider.followEndpoints === undefined) return;
      const found = provider.followEndpoints(() => {});
      assertValid('the result of followEndpoints', found, foundEndpoints);
      assert.deepEqual(
        provider.endpoints?.() ?? [],
        found.endpoints,
        'endpoints must return the same',
      );
    },
  },
  {
    id: 'endpoints.balancing',
    title: 'says how calls are distributed and endpoints are checked, if at all, in valid values',
    run: async (harness) => {
      const { provider } = await harness.open();
      if (provider.balancing === undefined) return;
      assertValid('balancing', provider.balancing(), balancing);
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
