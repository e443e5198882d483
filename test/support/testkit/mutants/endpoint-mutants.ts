import { changeProvider, type Mutant } from './mutant.js';

export const ENDPOINT_MUTANTS: readonly Mutant[] = [
  {
    clause: 'endpoints.shape',
    defect: 'returns an endpoint twice',
    reason: /endpoints with different ids/,
    adapter: changeProvider((good) => {
      const endpoints = good.endpoints?.() ?? [];
      return { endpoints: () => [...endpoints, ...endpoints] };
    }),
  },
  {
    clause: 'endpoints.shape',
    defect: 'returns a half weight',
    reason: /0.weight .*a whole number/,
    adapter: changeProvider((good) => ({
      endpoints: () => (good.endpoints?.() ?? []).map((one) => ({ ...one, weight: 1.5 })),
    })),
  },
  {
    clause: 'endpoints.balancing',
    defect: 'checks its endpoints every 0 ms',
    reason: /health.intervalMs .*a whole number from 1 to 2147483647/,
    adapter: changeProvider(() => ({
      balancing: () => ({
        strategy: 'round_robin',
        hashHeader: null,
        health: { intervalMs: 0, timeoutMs: 1, failures: 1, successes: 1 },
      }),
    })),
  },
  {
    clause: 'endpoints.follow',
    defect: 'follows an endpoint twice',
    reason: /endpoints with different ids/,
    adapter: changeProvider((good) => {
      const endpoints = good.endpoints?.() ?? [];
      const resolved = { resolvedAt: null, resolveError: null, resolveFailures: 0 };
      return { followEndpoints: () => ({ endpoints: [...endpoints, ...endpoints], ...resolved }) };
    }),
  },
  {
    clause: 'endpoints.follow',
    defect: 'follows other endpoints than it returns',
    reason: /endpoints must return the same/,
    adapter: changeProvider(() => {
      const resolved = { resolvedAt: null, resolveError: null, resolveFailures: 0 };
      return { followEndpoints: () => ({ endpoints: [], ...resolved }) };
    }),
  },
  {
    clause: 'endpoints.each',
    defect: 'calls the first endpoint instead of an unknown one',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: ({ endpoint: _ignored, ...invocation }) => good.invoke(invocation),
    })),
  },
];
