import type { LiveRoute } from '../host/live-module.js';

const CLOSE = Buffer.from('}');

export interface EnvelopeInput {
  readonly module: string;
  readonly route: LiveRoute;
  readonly providerPath: string;
  readonly pathParams: Readonly<Record<string, string>>;
  readonly data: Buffer;
}

/**
 * The eight fields of contract 1.7. The provider's bytes are spliced in last, as they came: numbers and
 * escapes survive, and nothing is serialised twice.
 */
export function createEnvelope(input: EnvelopeInput): Buffer {
  const head = Buffer.from(
    `${routeHead(input.module, input.route)}${JSON.stringify(input.providerPath)},"path_params":${JSON.stringify(input.pathParams)},"data":`,
  );
  return Buffer.concat([head, input.data, CLOSE], head.length + input.data.length + CLOSE.length);
}

const heads = new WeakMap<LiveRoute, string>();

/** The part that is the same for every call of a route; goes away with the route. */
function routeHead(module: string, route: LiveRoute): string {
  let head = heads.get(route);
  if (head === undefined) {
    const fixed = JSON.stringify({
      status: 'forwarded',
      module_name: module,
      method: route.method,
      declared_path: route.declaredPath,
      capability: route.capability,
    });
    head = `${fixed.slice(0, -1)},"provider_path":`;
    heads.set(route, head);
  }
  return head;
}
