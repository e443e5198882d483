import type { RouteMatch } from '../../lib/route-table.js';
import type { LiveRoute } from '../../modules/live-module.js';

const END = Buffer.from('}');

/**
 * The body of a forwarded response in pieces. The value of its last field, `data`, is the provider's bytes as they
 * came, so that numbers and escapes stay the same.
 */
export function createEnvelope(
  { providerPath }: { readonly providerPath: string },
  { value: { envelopeHead }, params }: RouteMatch<LiveRoute>,
  data: readonly Uint8Array[],
): readonly Uint8Array[] {
  const called = `"provider_path":${JSON.stringify(providerPath)},"path_params":${JSON.stringify(params)}`;
  return [Buffer.from(`${envelopeHead},${called},"data":`), ...data, END];
}
