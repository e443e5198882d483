export interface RouteOptions {
  readonly method: string;
  readonly path: string;
  readonly capability?: string;
  readonly operation?: object;
  readonly summary?: string;
  readonly description?: string;
}

/** A descriptor with an inline manifest. `more` replaces or adds keys. */
export function describeModule(
  module: string,
  endpoint: string,
  routes: readonly RouteOptions[],
  overrides: object = {},
): object {
  return {
    apiVersion: 'modgate/v1',
    module,
    provider: { kind: 'http', config: { endpoints: [endpoint] } },
    manifest: { inline: buildManifest(module, routes) },
    ...overrides,
  };
}

export function buildManifest(module: string, routes: readonly RouteOptions[]): object {
  const capabilities = routes.flatMap((route) => route.capability ?? []);
  return {
    protocol: 'modgate.manifest.v1',
    module_id: module,
    capabilities: [...new Set(capabilities)].sort(),
    http_routes: routes,
  };
}

/** Parses routes such as `GET /a/{b}`, with one capability for all. */
export function toRoutes(texts: readonly string[], capability: string): RouteOptions[] {
  return texts.map((text) => {
    const space = text.indexOf(' ');
    return { method: text.slice(0, space), path: text.slice(space + 1), capability };
  });
}

/** The methods that a manifest may declare. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Every method with any path of at least one segment, so that only invalid paths are rejected. */
export function describeWideModule(
  module: string,
  endpoint: string,
  overrides: object = {},
): object {
  const routes = METHODS.map((method) => ({
    method,
    path: '/{rest...}',
    capability: 'wide.use',
  }));
  return describeModule(module, endpoint, routes, overrides);
}
