import {
  type Actor,
  type HostResource,
  type SurfaceCall,
  type SurfaceContext,
  SurfaceError,
} from '../../../core/contract/index.js';
import { formatCookie, SESSION_COOKIE } from '../sessions/session-cookie.js';
import { createUnauthenticated, type Session, type Sessions } from '../sessions/sessions.js';
import { createEmpty, createJson } from './json.js';

interface ConsoleVersion {
  readonly version: string;
  /** The digest of the bundle; `null` if the pages are not built. */
  readonly uiDigest: string | null;
  /** What pages show. */
  readonly resources: readonly HostResource[];
}

export function createSessionResponse(
  { record, actor, expiresAt }: Session,
  { version, uiDigest, resources }: ConsoleVersion,
): Response {
  const { kind, id, scopes } = actor;
  return createJson({
    id: record.id,
    actor: { kind, id, scopes: [...scopes].sort() },
    via: record.via,
    developer: record.via === 'developer',
    created_at: formatTime(record.createdAt),
    expires_at: formatTime(expiresAt),
    ui_digest: uiDigest,
    version,
    resources,
  });
}

/** Handles `DELETE /console/api/session`. */
export async function signOut(
  sessions: Sessions,
  cookie: string,
  { origin }: SurfaceCall,
): Promise<Response> {
  await sessions.signOut(cookie);
  return createEmpty(origin === null ? [] : [formatCookie(SESSION_COOKIE, origin, '', 0)]);
}

/** Handles `GET /console/api/sessions` and `DELETE /console/api/sessions/{id}`. */
export async function serveSessions(sessions: Sessions, id: string | null): Promise<Response> {
  const all = await sessions.list();
  if (id === null)
    return createJson({ sessions: all.map(({ record }) => toListedSession(record)) });
  const session = all.find(({ record }) => record.id === id);
  if (session === undefined || !(await sessions.end(session.key, 'revoked'))) {
    throw new SurfaceError('not_found', 'there is no such session', {
      nextActions: ['see GET /console/api/sessions'],
    });
  }
  return createEmpty();
}

/**
 * Authenticates an `authorization` header, for tools without a browser.
 * @returns `null` without the header.
 * @throws SurfaceError 401, 503.
 */
export async function findBearer(
  request: Request,
  context: Pick<SurfaceContext, 'authenticate'>,
  call: SurfaceCall,
): Promise<Actor | null> {
  const header = request.headers.get('authorization');
  if (header === null) return null;
  const [, scheme = '', token = ''] = /^([A-Za-z][A-Za-z0-9._-]*) +(.+)$/.exec(header) ?? [];
  const actor = await context.authenticate({ scheme: scheme.toLowerCase(), token }, call);
  if (actor === null) throw createUnauthenticated(null);
  return actor;
}

function toListedSession({ id, actor, createdAt, usedAt, endsAt }: Session['record']) {
  return {
    id,
    actor,
    created_at: formatTime(createdAt),
    used_at: formatTime(usedAt),
    expires_at: formatTime(endsAt),
  };
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString();
}
