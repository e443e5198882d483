import { firstSegment } from '../../lib/routing/request-path.js';
import { findOwnOrigin } from '../request/own-origin.js';
import type { RequestContext } from '../request-context.js';

/** The sources of the metadata of surfaces. */
export interface ResourceOptions {
  readonly surfaces: {
    /** The prefix of the first surface that is a protected resource; `null` without one. */
    findProtectedPrefix(): string | null;
  };
  /** The issuers whose access tokens the host accepts. */
  readonly issuers: readonly string[];
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

export function isMetadataTarget(target: string): boolean {
  const [path = ''] = target.split('?', 1);
  return path === WELL_KNOWN || path.startsWith(`${WELL_KNOWN}/`);
}

/**
 * The metadata of RFC 9728 for a target: a well-known path, or a path of the surface. Returns
 * `null` without metadata, and if the origin of the host is unknown.
 */
export function describeResource(
  target: string,
  origin: string | null,
  { surfaces, issuers }: ResourceOptions,
): object | null {
  const prefix = surfaces.findProtectedPrefix();
  const [path = ''] = target.split('?', 1);
  const resource = path.slice(WELL_KNOWN.length) || prefix;
  if (origin === null || resource === null || firstSegment(resource) !== prefix) return null;
  return {
    resource: origin + resource,
    ...(issuers.length > 0 && { authorization_servers: issuers }),
    bearer_methods_supported: ['header'],
  };
}

interface MetadataOptions {
  readonly surfaces: { findProtectedPrefix(): string | null };
  readonly publicOrigin: string | null;
}

const BEARER = /^bearer\b/i;

/** Adds the URL of the metadata to the token challenge of a surface. */
export function addMetadataUrl(
  challenges: readonly string[],
  { target, req }: Pick<RequestContext, 'target' | 'req'>,
  { surfaces, publicOrigin }: MetadataOptions,
): readonly string[] {
  const [path = ''] = target.split('?', 1);
  const origin = findOwnOrigin(req, publicOrigin);
  if (origin === null || firstSegment(path) !== surfaces.findProtectedPrefix()) return challenges;
  // A quote in a target cannot end the text, because it is not valid in the path of a URL.
  const url = new URL(WELL_KNOWN + path, origin).href;
  return challenges.map((challenge) => {
    if (!BEARER.test(challenge)) return challenge;
    return `${challenge}${challenge.includes(' ') ? ',' : ''} resource_metadata="${url}"`;
  });
}
