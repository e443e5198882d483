import type { Answer } from '../echo-provider.js';
import { type Call, call } from './call.js';
import { describeModule } from './modules.js';
import { useHost } from './use-host.js';

const ROUTES = [
  { method: 'GET', path: '/items/{id}', capability: 'crm.read' },
  { method: 'POST', path: '/items/{id}', capability: 'crm.write' },
];
const RAW = { responses: { mode: 'raw' } };

/** A host with modules in raw mode, in raw mode with other headers, and in the default mode. */
export function useRawResponses() {
  const setup = useHost((provider) => {
    const describe = (name: string, overrides: object) =>
      describeModule(name, provider.url, ROUTES, overrides);
    return {
      'crm.json': describe('crm', RAW),
      'few.json': describe('few', {
        responses: { mode: 'raw', expose_headers: ['X-Pages', 'www-authenticate'] },
      }),
      'none.json': describe('none', { responses: { mode: 'raw', expose_headers: [] } }),
      'wrapped.json': describe('wrapped', {
        responses: { expose_headers: ['etag', 'cache-control', 'vary', 'x-content-type-options'] },
      }),
      'plain.json': describe('plain', {}),
      'small.json': describe('small', { ...RAW, limits: { response_bytes: 64 } }),
    };
  });
  const get = (answer: Answer, module = 'crm', overrides: Partial<Call> = {}) => {
    setup.provider.answer(answer);
    return call(setup.host, { target: `/modules/${module}/http/items/7?x=1`, ...overrides });
  };
  return { setup, get };
}
