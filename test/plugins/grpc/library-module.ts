import { fileURLToPath } from 'node:url';
import { LIBRARY_SET } from './library-server.js';

/** The capability of all routes. */
export const CAPABILITY = 'library.use';

/** The module of the tests, whose routes name their methods. */
export function describeLibrary(
  routes: readonly object[],
  url: string,
  others: object = {},
  config: object = {},
) {
  return {
    'library.json': {
      apiVersion: 'modgate/v1',
      module: 'library',
      provider: {
        kind: 'grpc',
        config: { endpoints: [url], descriptors: { file: fileURLToPath(LIBRARY_SET) }, ...config },
      },
      manifest: {
        inline: {
          protocol: 'modgate.manifest.v1',
          module_id: 'library',
          version: '1.0.0',
          capabilities: [CAPABILITY],
          http_routes: routes.map((route) => ({ capability: CAPABILITY, ...route })),
        },
      },
      ...others,
    },
  };
}

interface Response {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export type Caller = (path: string, init?: RequestInit) => Promise<Response>;

/** Calls routes of the module with its capability. */
export function createCaller(url: string): Caller {
  return async (path, init = {}) => {
    const response = await fetch(`${url}/modules/library/http${path}`, {
      ...init,
      headers: {
        authorization: `Bearer dev-service:reader:${CAPABILITY}`,
        ...(init.body !== undefined && { 'content-type': 'application/json' }),
        ...(init.headers as object),
      },
    });
    const { status, headers } = response;
    return { status, headers, text: await response.text() };
  };
}
