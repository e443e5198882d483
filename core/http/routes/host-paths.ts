/** Of every route of the host. A surface cannot have a path that starts with one of their first segments. */
export const HOST_PATHS = [
  '/.well-known/jwks.json',
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/*path',
  '/approvals',
  '/approvals/:id',
  '/audit',
  '/cache',
  '/calls',
  '/candidate',
  '/descriptors',
  '/explain',
  '/fleet',
  '/livez',
  '/manifests',
  '/metrics',
  '/modules',
  '/openapi.json',
  '/operations',
  '/plugins',
  '/problems/:code',
  '/readyz',
  '/roles',
] as const;

export type HostPath = (typeof HOST_PATHS)[number];
