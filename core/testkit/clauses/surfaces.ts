import assert from 'node:assert/strict';
import {
  type Actor,
  CONTRACT_VERSION,
  type HostRequest,
  isSurfaceFactory,
} from '../../contract/index.js';
import type { Clause } from '../clause.js';
import type { SurfaceHarness, SurfaceResult } from '../surface-harness.js';
import { countHandles } from '../wait.js';

const NAME = /^[a-z][a-z0-9-]*$/;
const PREFIX = /^\/[a-z0-9][a-z0-9-]{0,62}$/;
const UI_DIGEST = /^sha256:[0-9a-f]{64}$/;
const UNKNOWN_KEY = 'modgate_testkit_unknown_key';
const UNKNOWN_PAGE = '/modgate-testkit-no-such-page';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const BODY_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** What the head of a request decides, by code and status. */
const HEAD_DECISIONS: ReadonlyMap<string, number> = new Map([
  ['unauthorized', 401],
  ['forbidden', 403],
  ['not_found', 404],
  ['method_not_allowed', 405],
]);
const HEAD_STATUSES = new Set(HEAD_DECISIONS.values());
const CONCURRENT_REQUESTS = 20;
const LONG = 'a'.repeat(8000);

/** A caller without any scope. */
const UNKNOWN: Actor = { kind: 'service', id: 'testkit', scopes: new Set() };

/** Paths at which some handlers have failed. */
const HOSTILE_PATHS = [
  '//',
  '/%00',
  '/%ff',
  '/%2e%2e%2fetc',
  '/__proto__',
  '/constructor',
  `/${LONG}`,
  `?${LONG}`,
  '?a=1&a=2&__proto__=3',
  '?%',
];

const HOSTILE_BODIES = ['', '{', '[]', 'null', '"text"', '{"__proto__":{"a":1}}', '\u0000', LONG];

/** Whether a request of a surface calls a route, an entity or an action of a module. */
function isOperationCall({ method, target }: HostRequest): boolean {
  return target.startsWith('/modules/') || (method === 'POST' && target === '/operations');
}

function assertFromHead(result: SurfaceResult, subject: string): void {
  const isLate =
    result.kind === 'problem'
      ? HEAD_DECISIONS.has(result.code) && !result.isFromHead
      : HEAD_STATUSES.has(result.response.status);
  assert.ok(!isLate, `${subject} must be rejected by admit, not by fetch`);
}

/** The clauses of surfaces. */
export const SURFACE_CLAUSES: readonly Clause<SurfaceHarness>[] = [
  {
    id: 'surface.declaration',
    title: 'is made by defineSurface, with a name, a prefix of one segment and a valid digest',
    run: async ({ subject: { surface } }) => {
      assert.ok(isSurfaceFactory(surface), 'the surface must have the brand of defineSurface');
      assert.equal(surface.contract, CONTRACT_VERSION, `contract must be ${CONTRACT_VERSION}`);
      assert.match(surface.name, NAME, `name must match ${NAME}`);
      assert.match(surface.prefix, PREFIX, `prefix must match ${PREFIX}`);
      const { authentication = 'host', uiDigest } = surface;
      assert.ok(['host', 'own'].includes(authentication), "authentication must be 'host' or 'own'");
      if (uiDigest !== undefined) assert.match(uiDigest, UI_DIGEST, 'uiDigest must be sha256:…');
    },
  },
  {
    id: 'surface.config',
    title: 'rejects unknown keys in its config, and a config that is not a mapping',
    run: async ({ subject: { surface, config = {} } }) => {
      const withUnknown = { ...(config as object), [UNKNOWN_KEY]: 1 };
      for (const value of [withUnknown, null, 'text', 7, []]) {
        const [error] = surface.config.validate(value, { coerce: true });
        assert.ok(error, `config must reject ${JSON.stringify(value)}`);
      }
    },
  },
  {
    id: 'surface.open',
    title: 'opens without a request to the host',
    run: async (harness) => {
      await harness.open();
      assert.equal(harness.context.requests.length, 0, 'open must not call the host');
    },
  },
  {
    id: 'surface.answers',
    title: 'answers a request to its prefix, with every method',
    run: async (harness) => {
      await harness.open();
      for (const method of METHODS) await harness.discard(await harness.fetch({ method }));
    },
  },
  {
    id: 'surface.unknown-page',
    title: 'rejects or answers a path that it does not know, and throws no other error',
    run: async (harness) => {
      await harness.open();
      for (const method of METHODS) {
        await harness.discard(await harness.fetch({ method, path: UNKNOWN_PAGE }));
      }
    },
  },
  {
    id: 'surface.head',
    title: 'rejects in admit what the head of a request decides, so that its body is not read',
    run: async (harness) => {
      const { maxBodyBytes, maxAnonymousBodyBytes = maxBodyBytes } = harness.subject.surface;
      await harness.open();
      const callers = [
        { actor: null, limit: maxAnonymousBodyBytes },
        { actor: harness.context.admit(UNKNOWN), limit: maxBodyBytes },
      ];
      const headers = { 'content-type': 'application/json' };
      for (const { actor, limit } of callers) {
        // The host reads no body of this caller.
        if (limit === 0) continue;
        for (const method of BODY_METHODS) {
          for (const path of ['', UNKNOWN_PAGE]) {
            const result = await harness.fetch({ method, path, headers, body: '{}', actor });
            await harness.discard(result);
            assertFromHead(result, `${method} ${path || 'of the prefix'}`);
          }
        }
      }
    },
  },
  {
    id: 'surface.hostile-input',
    title: 'handles odd paths, queries and bodies without an error of its code',
    run: async (harness) => {
      await harness.open();
      const actor = harness.context.admit(UNKNOWN);
      for (const path of HOSTILE_PATHS) await harness.discard(await harness.fetch({ path, actor }));
      const headers = { 'content-type': 'application/json' };
      for (const body of HOSTILE_BODIES) {
        await harness.discard(await harness.fetch({ method: 'POST', body, headers, actor }));
      }
    },
  },
  {
    id: 'surface.no-actor',
    title: 'makes no call to the host without credentials',
    run: async (harness) => {
      await harness.open();
      for (const method of METHODS) await harness.discard(await harness.fetch({ method }));
      assert.equal(harness.context.requests.length, 0, 'it must not call the host');
    },
  },
  {
    id: 'surface.operations',
    title: 'names the operation of each call for an agent, so that the host calls no other',
    run: async (harness) => {
      const { operationCalls = [], host } = harness.subject;
      const exposed = host?.snapshot?.modules.flatMap(({ name, operations = [] }) =>
        operations.map(({ id }) => `${name} ${id}`),
      );
      await harness.open();
      const actor = harness.context.admit(UNKNOWN);
      for (const request of operationCalls) {
        const before = harness.context.requests.length;
        await harness.discard(await harness.fetch({ ...request, actor }));
        const calls = harness.context.requests.slice(before).filter(isOperationCall);
        assert.ok(calls.length > 0, 'each of operationCalls must call an operation');
        for (const { operation, target } of calls) {
          const subject = `the request to ${target.slice(0, 60)}`;
          assert.ok(operation, `${subject} must name its operation`);
          const name = `${operation.module} ${operation.id}`;
          assert.ok(exposed?.includes(name), `${subject} must name one of host.snapshot`);
        }
      }
    },
  },
  {
    id: 'surface.concurrent',
    title: 'answers many requests at the same time',
    run: async (harness) => {
      await harness.open();
      const requests = Array.from({ length: CONCURRENT_REQUESTS }, () => harness.fetch({}));
      for (const result of await Promise.all(requests)) await harness.discard(result);
    },
  },
  {
    id: 'surface.aborted',
    title: 'handles clients that disconnect before or after the response',
    run: async (harness) => {
      await harness.open();
      const controller = new AbortController();
      const work = harness.fetch({ signal: controller.signal });
      controller.abort();
      const result = await work.catch(() => null);
      if (result !== null) await harness.discard(result);
      await harness.discard(await harness.fetch({}));
    },
  },
  {
    id: 'surface.change',
    title: 'handles changes of modules',
    run: async (harness) => {
      await harness.open();
      harness.context.change();
      await harness.discard(await harness.fetch({}));
      harness.context.change();
    },
  },
  {
    id: 'surface.close',
    title: 'keeps no timer, socket or other handle after its scope is closed',
    run: async (harness) => {
      const before = countHandles();
      await harness.open();
      await harness.discard(await harness.fetch({}));
      await harness.close();
      const expectation = `a return to ${before} active handles`;
      await harness.wait.eventually(expectation, () => countHandles() <= before);
    },
  },
];
