import type { Manifest } from '../contract/index.js';

/** The routes that need no credentials: `GET /contacts`. Manifest and descriptor both have to say so. */
export function listPublicRoutes(
  descriptor: { readonly public: boolean },
  manifest: Pick<Manifest, 'http_routes'> | null,
): string[] {
  if (!descriptor.public || manifest === null) return [];
  return manifest.http_routes
    .filter(({ access }) => access === 'public')
    .map(({ method, path }) => `${method} ${path}`);
}
