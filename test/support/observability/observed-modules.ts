import { describeModule } from '../http/modules.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.read' }];
const withOperation = (operation: object) => ROUTES.map((route) => ({ ...route, operation }));

/** Modules that show every metric of modules once they are called. Those of `down` and `named` fail. */
export function describeObserved({ url }: { readonly url: string }): Record<string, object> {
  const strict = withOperation({ query_schema: { required: ['q'] } });
  const kept = withOperation({ cache: { ttl_ms: 60_000 } });
  // No server of names listens there.
  const config = {
    endpoints: [{ dns: 'crm.invalid', port: 80 }],
    resolver: { servers: ['127.0.0.1:1'] },
  };
  return {
    'shop.json': describeModule('shop', url, ROUTES),
    'down.json': describeModule('down', 'http://127.0.0.1:1', ROUTES),
    'kept.json': describeModule('kept', url, kept),
    'strict.json': describeModule('strict', url, strict),
    'named.json': describeModule('named', url, ROUTES, { provider: { kind: 'http', config } }),
    'next.json': describeModule('next', url, ROUTES, { candidate: { endpoints: [url] } }),
  };
}
