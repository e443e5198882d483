import type {
  Actor,
  HostRequest,
  HostSnapshot,
  SurfaceContext,
  SurfaceRecord,
  SurfaceRecords,
} from '../../contract/index.js';
import {
  assertRecordKey,
  assertRecordPrefix,
  assertRecordTime,
  assertSendable,
  formatRecordValue,
} from '../../lib/surface-rules.js';
import { createFakeLog, type FakeLog } from './fake-log.js';
import { createFakeOpenContext, type FakeReferences } from './fake-open-context.js';
import { createFakeScope, type FakeScope } from './fake-scope.js';

/** Options of {@link createFakeSurfaceContext}. */
export interface FakeSurfaceContextOptions extends FakeReferences {
  /** Responds to `host.request`. Default: a 404 Problem. */
  readonly answer?: (actor: Actor, request: HostRequest) => Response | Promise<Response>;
  /** The actors of tokens, for `authenticate`. Default none. */
  readonly actors?: Readonly<Record<string, Actor>>;
  /** The value of `issuers`. Default none. */
  readonly issuers?: readonly string[];
  /** The result of `host.snapshot`. Default: no modules. */
  readonly snapshot?: HostSnapshot;
}

/** The second argument of `open` of a surface, with a scope that the test closes. */
export interface FakeSurfaceContext extends SurfaceContext {
  /** Closed by the test. */
  readonly scope: FakeScope;
  /** Read by the test. */
  readonly log: FakeLog;
  /** The requests that the surface has made, oldest first. */
  readonly requests: readonly HostRequest[];
  /** Creates an actor that `host.request` accepts, like a host. */
  admit(actor: Actor): Actor;
  /** Calls the listeners of `host.onChange`. */
  change(): void;
}

/**
 * Creates the context that a host passes to `open`. `host.request` accepts actors of this context alone. It and
 * `records` throw for what a host does not accept; the number of records has no limit.
 */
export function createFakeSurfaceContext(
  options: FakeSurfaceContextOptions = {},
): FakeSurfaceContext {
  const { answer = createNotFound, actors = {}, issuers = [] } = options;
  const { snapshot = createEmptySnapshot() } = options;
  const { secret, file, path } = createFakeOpenContext(options);
  const admitted = new WeakSet<Actor>();
  const requests: HostRequest[] = [];
  const listeners = new Set<() => void>();
  const admit = (actor: Actor): Actor => {
    const copy = Object.freeze({ ...actor, scopes: new Set(actor.scopes) });
    admitted.add(copy);
    return copy;
  };
  const assertAdmitted = (actor: Actor) => {
    if (!admitted.has(actor)) throw new TypeError('the actor was not made by the host');
  };
  return {
    scope: createFakeScope(),
    log: createFakeLog(),
    secret,
    file,
    path,
    records: createFakeRecords(),
    issuers,
    authenticate: async ({ token }) => {
      const actor = Object.hasOwn(actors, token) ? actors[token] : undefined;
      return actor === undefined ? null : admit(actor);
    },
    host: {
      version: '0.0.0',
      resources: [],
      request: async (actor, request) => {
        assertAdmitted(actor);
        assertSendable(request.method ?? 'GET', request.headers ?? {});
        requests.push(request);
        return answer(actor, request);
      },
      admit: async (actor) => assertAdmitted(actor),
      snapshot: async () => snapshot,
      onChange: (listener) => {
        const added = () => listener();
        listeners.add(added);
        return () => listeners.delete(added);
      },
    },
    requests,
    admit,
    change: () => {
      for (const listener of [...listeners]) listener();
    },
  };
}

function createNotFound(): Response {
  return Response.json({ code: 'not_found', status: 404 }, { status: 404 });
}

function createEmptySnapshot(): HostSnapshot {
  return { at: Date.now(), workers: 1, fleet: null, modules: [], ignored: [] };
}

function createFakeRecords(): SurfaceRecords {
  const stored = new Map<string, SurfaceRecord>();
  let revisions = 0;
  const find = (key: string): SurfaceRecord | null => {
    const record = stored.get(key);
    return record !== undefined && record.expiresAt > Date.now() ? record : null;
  };
  return {
    get: async (key) => {
      assertRecordKey(key);
      return find(key);
    },
    set: async (key, value, { expiresAt, only }) => {
      assertRecordKey(key);
      assertRecordTime(expiresAt);
      const copy = JSON.parse(formatRecordValue(value));
      const existing = find(key);
      const isAllowed =
        typeof only === 'object'
          ? existing?.revision === only.revision
          : only === undefined || (only === 'present') === (existing !== null);
      if (!isAllowed) return false;
      stored.set(key, { key, value: copy, revision: String(++revisions), expiresAt });
      return true;
    },
    delete: async (key) => {
      assertRecordKey(key);
      return find(key) !== null && stored.delete(key);
    },
    list: async (prefix = '') => {
      assertRecordPrefix(prefix);
      const keys = [...stored.keys()].filter((key) => key.startsWith(prefix)).toSorted();
      return keys.flatMap((key) => find(key) ?? []);
    },
  };
}
