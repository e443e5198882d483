import {
  type Actor,
  type SetRecordOptions,
  type SurfaceCall,
  SurfaceError,
  type SurfaceRecord,
  type SurfaceRecords,
} from '../../../core/contract/index.js';
import type { SessionsContext } from '../../../plugins/console/sessions/sessions.js';
import type { TokenIssuers } from '../../../plugins/console/sessions/token-renewal.js';

/** The host for sessions, in memory, with a clock that the test sets. */
export interface FakeContext extends SessionsContext {
  /** Milliseconds since 1970. */
  now: number;
  /** The actors of tokens. */
  readonly actors: Map<string, Actor>;
  /** Whether the authenticators answer. */
  isAnswering: boolean;
  /** Number of calls. */
  asked: number;
  readonly stored: Map<string, SurfaceRecord>;
  /** Beyond it a new record is rejected. */
  maxRecords: number;
}

/** Sessions whose tokens are not renewed. */
export const NO_ISSUERS: TokenIssuers = { renew: async () => null, revoke: async () => {} };

/** A request with a session: its parts do not matter to it. */
export const CALL = {} as SurfaceCall;

const NOON = Date.parse('2026-01-31T12:00:00.000Z');

export function createFakeContext(): FakeContext {
  const stored = new Map<string, SurfaceRecord>();
  const context: FakeContext = {
    now: NOON,
    actors: new Map(),
    isAnswering: true,
    asked: 0,
    stored,
    maxRecords: 10_000,
    records: createRecords(stored, () => context),
    host: { admit: async () => {} },
    authenticate: async ({ token }) => {
      context.asked += 1;
      if (!context.isAnswering) throw new SurfaceError('unavailable', 'no answer');
      return context.actors.get(token) ?? null;
    },
  };
  return context;
}

export function createActor(id: string, ...scopes: readonly string[]): Actor {
  return { kind: 'user', id, scopes: new Set(scopes) };
}

function createRecords(
  stored: Map<string, SurfaceRecord>,
  read: () => Pick<FakeContext, 'now' | 'maxRecords'>,
): SurfaceRecords {
  let revisions = 0;
  const find = (key: string) => {
    const record = stored.get(key);
    return record !== undefined && record.expiresAt > read().now ? record : null;
  };
  return {
    get: async (key) => find(key),
    set: async (key, value, { expiresAt, only }: SetRecordOptions) => {
      const existing = find(key);
      const isAllowed =
        typeof only === 'object'
          ? existing?.revision === only.revision
          : only === undefined || (only === 'present') === (existing !== null);
      if (!isAllowed) return false;
      if (!stored.has(key) && stored.size >= read().maxRecords) {
        throw new SurfaceError('unavailable', 'there are too many records');
      }
      const copy = JSON.parse(JSON.stringify(value));
      stored.set(key, { key, value: copy, revision: String(++revisions), expiresAt });
      return true;
    },
    delete: async (key) => find(key) !== null && stored.delete(key),
    list: async (prefix = '') =>
      [...stored.values()].filter(({ key }) => find(key) && key.startsWith(prefix)),
  };
}
