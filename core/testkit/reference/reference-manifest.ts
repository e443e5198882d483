import { type Manifest, MODULE_HTTP_METHODS } from '../../contract/index.js';

const CAPABILITY = 'reference.use';

const GET_PATHS = [
  '/status/{code}',
  '/bytes/{length}',
  '/slow/{ms}',
  '/held/{marker}',
  '/release/{marker}',
  '/seen/{marker}',
  '/fault/{fault}',
  '/exact',
  '/empty',
  '/text',
  '/hang',
  '/headers',
  '/version',
  '/bare/{status}',
  '/redirect',
  '/config',
  '/deliveries',
];

/** The manifest of the reference module, with all routes that the clauses use. */
export const REFERENCE_MANIFEST: Manifest = {
  protocol: 'modgate.manifest.v1',
  module_id: 'modgate/reference',
  version: '1.0.0',
  summary: 'The provider of the conformance suite',
  capabilities: [CAPABILITY],
  http_routes: [
    ...MODULE_HTTP_METHODS.map((method) => ({
      method,
      path: '/echo/{rest...}',
      capability: CAPABILITY,
    })),
    ...GET_PATHS.map((path) => ({ method: 'GET' as const, path, capability: CAPABILITY })),
  ],
  admin: {
    entities: [
      {
        name: 'items',
        read_capability: CAPABILITY,
        list_path: '/admin/items',
        fields: [{ name: 'id', type: 'integer' }],
      },
    ],
    actions: [{ name: 'act', capability: CAPABILITY, invoke_path: '/admin/act' }],
  },
  config: {
    fields: [
      { service: 'reference', key: 'size', type: { kind: 'int' }, default: 1, editable: true },
    ],
    delivery_path: '/config',
  },
};
