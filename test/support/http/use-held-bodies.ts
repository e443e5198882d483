import { describeModule } from './modules.js';
import { type ScriptedHost, useScriptedProvider } from './use-scripted-provider.js';

/** The buffer size of the modules. Bytes. */
export const HELD = 1000;
/** The maximum body of the modules. Bytes. */
export const LONGEST = 400_000;

const anything = { type: 'object' };
const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'items.read' },
  {
    method: 'GET',
    path: '/described/{id}',
    capability: 'items.read',
    operation: { output_schema: anything },
  },
  { method: 'POST', path: '/items/{id}', capability: 'items.write' },
  {
    method: 'PUT',
    path: '/items/{id}',
    capability: 'items.write',
    operation: { idempotency: 'idempotent' },
  },
  {
    method: 'POST',
    path: '/described/{id}',
    capability: 'items.write',
    operation: { input_schema: anything },
  },
];

/**
 * Starts a host whose modules stream long bodies in both modes. `quick` has short limits, `brief` a
 * short timeout, `large` the defaults for long responses.
 */
export function useHeldBodies(): ScriptedHost {
  const limits = {
    response_bytes: LONGEST,
    hold_bytes: HELD,
    request_bytes: LONGEST,
    hold_request_bytes: HELD,
  };
  return useScriptedProvider((url) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, url, ROUTES, { limits, breaker: { failures: 1000 }, ...overrides });
    return {
      'items.json': describe('items', { retry: { attempts: 2 } }),
      'raw.json': describe('raw', { responses: { mode: 'raw' } }),
      'checked.json': describe('checked', { schemas: { input: 'enforce', output: 'enforce' } }),
      'quick.json': describe('quick', {
        limits: { ...limits, body_idle_ms: 1000, timeout_ms: 1000 },
      }),
      'brief.json': describe('brief', { limits: { ...limits, timeout_ms: 1000 } }),
      'large.json': describe('large', { limits: { response_bytes: 1_073_741_824 } }),
      'few.json': describe('few', { limits: { ...limits, concurrency: 4 } }),
    };
  });
}
