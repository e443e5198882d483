import type { AdminActionOperation, AdminListOperation } from '../../contract/index.js';
import { REFERENCE_MANIFEST } from './reference-manifest.js';
import { createReferenceModule } from './reference-module.js';
import type { ReferenceAnswer, ReferenceRequest } from './reference-protocol.js';
import { toReferenceRequest } from './to-reference-request.js';

// The file of a descriptor of kind `local`. It may run in another thread, so it shares no memory with
// the suite.
const reference = createReferenceModule();

export const manifest = REFERENCE_MANIFEST;

interface LocalRoute {
  readonly kind: 'http_route';
  readonly method: string;
  readonly providerPath: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array | null;
}

/** The handler of a module of kind `local`: passes each operation to the reference module. */
export default async function handle(
  operation: LocalRoute | AdminListOperation | AdminActionOperation,
): Promise<unknown> {
  const request =
    operation.kind === 'http_route' ? routeToRequest(operation) : toReferenceRequest(operation);
  const { fault, status, headers, body } = await reference.answer(request);
  if (fault !== undefined) return 'an invalid response';
  return { status, headers: joinLists(headers), body: body ?? undefined };
}

/** Called at each delivery of configuration. */
export async function configure(configuration: {
  readonly revision: number;
  readonly values: Readonly<Record<string, unknown>>;
}): Promise<void> {
  const operation = { kind: 'configure', path: '/config', ...configuration } as const;
  const { status } = await reference.answer(toReferenceRequest(operation));
  if (status !== 204) throw new Error(`the configuration was rejected with ${status}`);
}

/** Rebuilds the target, because a handler does not receive the raw one. */
function routeToRequest(route: LocalRoute): ReferenceRequest {
  const { method, providerPath, query, headers, rawBody } = route;
  const path = providerPath.split('/').map(encodeURIComponent).join('/');
  return { method, target: query.size === 0 ? path : `${path}?${query}`, headers, body: rawBody };
}

function joinLists(headers: ReferenceAnswer['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return Object.fromEntries(entries) as Record<string, string>;
}
