import type { Requirement } from '../../operations/authorization.js';
import type { Resource } from '../../operations/resource.js';

interface HostRoute {
  /** What a caller needs before a byte of the body is read. */
  readonly right: Requirement;
  /** The maximum body of a POST; no other method reads a body. Bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number;
  /** Whether it needs no credentials on a host that listens on loopback alone. */
  readonly isOpenOnLoopback?: true;
  /** Whether pages of the console call it, with the cookie of their user. */
  readonly isForPages?: true;
  /** The command that prints it, and its summary. */
  readonly command?: readonly [name: string, summary: string];
  /** Imports what it answers: what only decides about routes loads no code of features. */
  load(): Promise<Resource>;
}

const PUBLIC = { right: { kind: 'public' } } as const;
const AUTHENTICATED = { right: { kind: 'authenticated' } } as const;
/** The files of a release in base64, and their paths. */
const MAX_RELEASE_BODY_BYTES = 24 * 1024 * 1024;
/** Enough for a decision or the digest of a release. */
const SMALL_BODY = { maxBodyBytes: 4096 };

const loadPublic = () => import('./public-routes.js');
const loadApprovals = () => import('../../operations/approvals/read-approvals.js');
const loadReleases = () => import('../../operations/releases/read-releases.js');

/**
 * The routes of the host, each with the right that it requires. A surface cannot have a path that
 * starts with one of their first segments.
 */
export const HOST_ROUTES = {
  'GET /.well-known/jwks.json': {
    ...PUBLIC,
    load: async () => (await loadPublic()).IDENTITY_KEYS,
  },
  'GET /.well-known/oauth-protected-resource': {
    ...PUBLIC,
    load: async () => (await loadPublic()).SURFACE_METADATA,
  },
  'GET /.well-known/oauth-protected-resource/*path': {
    ...PUBLIC,
    load: async () => (await loadPublic()).PATH_METADATA,
  },
  'GET /approvals': {
    ...requireScope('modgate.approvals'),
    isForPages: true,
    load: async () => (await loadApprovals()).APPROVALS,
  },
  'GET /approvals/:id': {
    ...requireScope('modgate.approvals'),
    isForPages: true,
    load: async () => (await loadApprovals()).APPROVAL,
  },
  'POST /approvals/:id': {
    right: { kind: 'scope', scope: 'modgate.approvals', isForUsers: true },
    ...SMALL_BODY,
    isForPages: true,
    load: async () => (await import('../../operations/approvals/decide-approval.js')).DECISION,
  },
  'GET /audit': {
    ...requireScope('modgate.audit.read'),
    isForPages: true,
    load: async () => (await import('../../operations/status/list-audit.js')).AUDIT,
  },
  'DELETE /cache': {
    ...requireScope('modgate.cache.purge'),
    load: async () => (await import('../../operations/status/purge-cache.js')).CACHE_PURGE,
  },
  'GET /calls': {
    ...requireScope('modgate.calls.read'),
    isForPages: true,
    load: async () => (await import('../../operations/status/list-calls.js')).CALLS,
  },
  'GET /candidate': {
    ...requireScope('modgate.candidate.read'),
    command: ['candidate', 'Show how the answers of a candidate differ from the live ones'],
    isForPages: true,
    load: async () => (await import('../../operations/status/read-candidate.js')).CANDIDATE,
  },
  'GET /descriptors': {
    ...requireScope('modgate.modules.read'),
    isForPages: true,
    load: async () => (await import('../../operations/status/read-descriptor.js')).DESCRIPTORS,
  },
  'GET /explain': {
    ...requireScope('modgate.explain'),
    isForPages: true,
    load: async () => (await import('./explain-route.js')).EXPLANATION,
  },
  'GET /fleet': {
    ...requireScope('modgate.modules.read'),
    command: ['fleet', 'Show the hosts of a fleet, and whether they agree'],
    isForPages: true,
    load: async () => (await import('../../operations/status/read-fleet.js')).FLEET_HOSTS,
  },
  'GET /livez': { ...PUBLIC, load: async () => (await loadPublic()).LIVENESS },
  'GET /manifests': {
    ...requireScope('modgate.modules.read'),
    isForPages: true,
    load: async () => (await import('../../operations/status/list-manifests.js')).MANIFESTS,
  },
  'GET /metrics': {
    ...requireScope('modgate.metrics.read'),
    isOpenOnLoopback: true,
    load: async () => (await import('../../operations/status/read-metrics.js')).METRICS_TEXT,
  },
  'GET /modules': {
    ...requireScope('modgate.modules.read'),
    isForPages: true,
    load: async () => (await import('../../operations/status/list-modules.js')).MODULES,
  },
  'GET /openapi.json': {
    ...AUTHENTICATED,
    isForPages: true,
    load: async () => (await import('../../operations/status/read-openapi.js')).OPENAPI,
  },
  'GET /operations': {
    ...AUTHENTICATED,
    load: async () => (await import('../../operations/exposed/list-operations.js')).OPERATIONS,
  },
  'POST /operations': {
    right: { kind: 'surface' },
    load: async () => (await import('../../operations/exposed/invoke-operation.js')).INVOCATION,
  },
  'GET /plugins': {
    ...requireScope('modgate.plugins.read'),
    isForPages: true,
    load: async () => (await import('../../operations/status/list-plugins.js')).PLUGIN_LIST,
  },
  'GET /problems/:code': { ...PUBLIC, load: async () => (await loadPublic()).PROBLEM_PAGE },
  'GET /readyz': { ...PUBLIC, load: async () => (await loadPublic()).READINESS },
  'GET /releases': {
    ...requireScope('modgate.releases'),
    isForPages: true,
    load: async () => (await loadReleases()).RELEASES,
  },
  'POST /releases': {
    ...requireScope('modgate.releases'),
    maxBodyBytes: MAX_RELEASE_BODY_BYTES,
    isForPages: true,
    load: async () => (await import('../../operations/releases/publish-release.js')).PUBLICATION,
  },
  'GET /releases/:id': {
    ...requireScope('modgate.releases'),
    isForPages: true,
    load: async () => (await loadReleases()).RELEASE,
  },
  'GET /roles': {
    ...requireScope('modgate.modules.read'),
    isForPages: true,
    load: async () => (await import('../../operations/status/list-roles.js')).ROLES,
  },
  'POST /rollback': {
    ...requireScope('modgate.releases'),
    ...SMALL_BODY,
    load: async () => (await import('../../operations/releases/rollback-release.js')).ROLLBACK,
  },
} as const satisfies Readonly<Record<`${'GET' | 'POST' | 'DELETE'} /${string}`, HostRoute>>;

/** The method and the path. */
export type HostRouteName = keyof typeof HOST_ROUTES;

export interface ListedRoute extends HostRoute {
  readonly name: HostRouteName;
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
}

export const LISTED_ROUTES: readonly ListedRoute[] = (
  Object.keys(HOST_ROUTES) as HostRouteName[]
).map((name) => {
  const [method = '', path = ''] = name.split(' ');
  return { ...HOST_ROUTES[name], name, method: method.toLowerCase() as 'get', path };
});

/** Each path once. */
export const HOST_PATHS: readonly string[] = [...new Set(LISTED_ROUTES.map(({ path }) => path))];

function requireScope(scope: string) {
  return { right: { kind: 'scope', scope } } as const;
}
