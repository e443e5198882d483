import type { LiveRoute } from '../../modules/live-module.js';

/** What follows the provider's bytes. */
export const ENVELOPE_END = Buffer.from('}');

export interface EnvelopeInput {
  readonly module: string;
  readonly route: LiveRoute;
  readonly providerPath: string;
  readonly pathParams: Readonly<Record<string, string>>;
}

const heads = new WeakMap<LiveRoute, RouteHead>();

interface RouteHead {
  /** The part that is the same for every call. */
  readonly fixed: string;
  /** All of it for a route without parameters, whose path is always the same. */
  readonly literal: Buffer;
}

/**
 * The eight fields of contract 1.7 but for the value of the last, `data`, which the provider's bytes are, as
 * they came: numbers and escapes survive, and nothing is serialised twice.
 */
export function createEnvelopeHead({
  module,
  route,
  providerPath,
  pathParams,
}: EnvelopeInput): Buffer {
  let head = heads.get(route);
  if (head === undefined) {
    head = createRouteHead(module, route);
    heads.set(route, head);
  }
  if (!route.hasParams) return head.literal;
  return Buffer.from(closeHead(head.fixed, providerPath, pathParams));
}

function createRouteHead(module: string, route: LiveRoute): RouteHead {
  const fixed = JSON.stringify({
    status: 'forwarded',
    module_name: module,
    method: route.method,
    declared_path: route.declaredPath,
    capability: route.capability,
  });
  return { fixed, literal: Buffer.from(closeHead(fixed, route.declaredPath, {})) };
}

function closeHead(fixed: string, providerPath: string, pathParams: object): string {
  return `${fixed.slice(0, -1)},"provider_path":${JSON.stringify(providerPath)},"path_params":${JSON.stringify(pathParams)},"data":`;
}
