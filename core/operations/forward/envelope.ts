import type { RouteMatch } from '../../lib/route-table.js';
import type { LiveRoute } from '../../modules/live-module.js';

const END = Buffer.from('}');

/**
 * The body of a forwarded response in pieces. The value of its last field, `data`, is the provider's bytes as they
 * came, so that numbers and escapes stay the same.
 */
export function createEnvelope(
  module: string,
  { providerPath }: { readonly providerPath: string },
  { value: route, params }: RouteMatch<LiveRoute>,
  data: readonly Uint8Array[],
): readonly Uint8Array[] {
  const head = JSON.stringify({
    status: 'forwarded',
    module_name: module,
    method: route.method,
    declared_path: route.declaredPath,
    capability: route.capability,
    provider_path: providerPath,
    path_params: params,
  });
  return [Buffer.from(`${head.slice(0, -1)},"data":`), ...data, END];
}
