import type { Manifest } from '../contract/index.js';
import { nameRoute } from './stream-rules.js';

/**
 * The routes without required credentials: `GET /contacts`. Manifest and descriptor must both
 * declare them public.
 */
export function listPublicRoutes(
  descriptor: { readonly public: boolean },
  manifest: Pick<Manifest, 'http_routes'> | null,
): string[] {
  if (!descriptor.public || manifest === null) return [];
  return manifest.http_routes.filter(({ access }) => access === 'public').map(nameRoute);
}
