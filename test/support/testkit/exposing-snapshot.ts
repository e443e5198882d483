import type {
  ExposedOperation,
  HostSnapshot,
  Manifest,
  OperationArgument,
} from '../../../core/contract/index.js';

const MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'shop',
  http_routes: [{ method: 'GET', path: '/items/{id}', capability: 'shop.read' }],
  admin: {
    entities: [{ name: 'people', read_capability: 'shop.read' }],
    actions: [{ name: 'merge', capability: 'shop.read' }],
  },
} as unknown as Manifest;

const createArgument = (name: string, place: OperationArgument['place']): OperationArgument => {
  return { name, place, wireName: name, isRequired: place === 'path' };
};

const operation = (
  kind: ExposedOperation['kind'],
  id: string,
  name: string,
  argument: OperationArgument,
): ExposedOperation => ({
  kind,
  id,
  name,
  reads: kind !== 'action',
  dangerLevel: 'low',
  needsApproval: false,
  response: 'raw',
  enforcesOutput: false,
  maxResultBytes: 102_400,
  maxMediaBytes: 4_194_304,
  isTool: false,
  arguments: [argument],
});

/** A host with one module, which exposes a route, an entity and an action. */
export const SNAPSHOT: HostSnapshot = {
  at: 0,
  workers: 1,
  fleet: null,
  ignored: [],
  modules: [
    {
      name: 'shop',
      file: 'shop.yaml',
      state: 'live',
      since: '2026-01-01T00:00:00.000Z',
      reason: null,
      hint: null,
      counts: { calls: 0, failed: 0, inFlight: 0, queued: 0 },
      endpoints: [],
      manifestDigest: 'sha256:1',
      configDigest: 'sha256:2',
      manifest: MANIFEST,
      operations: [
        operation('route', 'read', 'GET /items/{id}', createArgument('id', 'path')),
        operation('entity', 'entity:people', 'people', createArgument('limit', 'limit')),
        operation('action', 'action:merge', 'merge', createArgument('body', 'body')),
      ],
    },
  ],
};

/** The request of a client that calls a tool. */
export function createToolCall(name: string, args: object) {
  const params = { name, arguments: args };
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
}
