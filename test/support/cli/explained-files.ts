import { describeModule } from '../http/modules.js';

export const EXPLAINER = 'dev-service:ops:modgate.explain';
export const READER = 'dev-service:me:crm.read';
export const PROVIDER_SECRET = 'provider-s3cret';

const MANIFEST = `{
  "protocol": "modgate.manifest.v1",
  "module_id": "acme/crm",
  "capabilities": ["crm.read", "crm.write"],
  "http_routes": [
    { "method": "GET", "path": "/{rest...}", "capability": "crm.write" },
    { "method": "GET", "path": "/items/{id}", "capability": "crm.read" },
    { "method": "GET", "path": "/items/special", "capability": "crm.read",
      "operation": { "timeout_ms": 300 } },
    { "method": "PUT", "path": "/items/{id}", "capability": "crm.write" },
    { "method": "DELETE", "path": "/items/{id}", "capability": "crm.write" },
    { "method": "POST", "path": "/closed" }
  ]
}`;

export const SPECIAL = '/modules/acme%2Fcrm/http/items/special?x=1';

function describeCrm(endpoint: string): string {
  return `# ours
module: acme/crm
provider:
  kind: http
  config:
    endpoints: ['${endpoint}']
    auth: { header: { name: X-Key, value: env:CRM_KEY } }
manifest: ./crm/manifest.json
limits:
  timeout_ms: 4000
  request_bytes: 77
forward_headers: [x-tenant]
retry: { attempts: 1 }
`;
}

/** Descriptors that are live, disabled and refused, on a provider at this address. */
export function listFiles(endpoint: string): Record<string, string | object> {
  return {
    'crm.yaml': describeCrm(endpoint),
    'crm/manifest.json': MANIFEST,
    'off.json': { ...describeModule('off', endpoint, []), enabled: false },
    'refused.yaml': 'module: refused\nprovider: { kind: http, confg: {} }\n',
  };
}
