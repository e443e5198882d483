import { expect } from 'chai';
import { object, unknown } from 'superstruct';
import {
  defineSurface,
  type Surface,
  type SurfaceContext,
  SurfaceError,
  type SurfaceFactory,
} from '../../core/contract/index.js';
import { SURFACE_CLAUSES } from '../../core/testkit/clauses/surfaces.js';
import { runSurfaceClauses, surfaceSuite } from '../../core/testkit/index.js';
import { consoleSurface } from '../../plugins/console/index.js';
import { docsSurface } from '../../plugins/docs/index.js';
import { mcpSurface } from '../../plugins/mcp/index.js';
import { createToolCall, SNAPSHOT } from '../support/testkit/exposing-snapshot.js';

surfaceSuite({ surface: consoleSurface });
surfaceSuite({ surface: docsSurface });
surfaceSuite({
  surface: mcpSurface,
  host: { snapshot: SNAPSHOT },
  operationCalls: [
    createToolCall('shop_read', { id: 'all' }),
    createToolCall('shop_list_people', {}),
    createToolCall('shop_merge', {}),
  ],
});

type Parts = Partial<SurfaceFactory<object>>;

function create(fetch: Surface['fetch'], parts: Parts = {}): SurfaceFactory<object> {
  const open = () => ({ fetch });
  return defineSurface({ name: 'desk', prefix: '/desk', config: object({}), open, ...parts });
}

const answer = async () => new Response('ok');

/** A surface that breaks the rule of each clause. */
const MUTANTS: Readonly<Record<string, SurfaceFactory<object>>> = {
  'surface.declaration': create(answer, { prefix: '/desk/below' }),
  'surface.config': create(answer, { config: unknown() as SurfaceFactory<object>['config'] }),
  'surface.open': create(answer, {
    open: async (_config: object, context: SurfaceContext) => {
      const actor = await context.authenticate({ scheme: 'bearer', token: 'ops' });
      if (actor !== null) await context.host.request(actor, { target: '/modules' });
      return { fetch: answer };
    },
  }),
  'surface.answers': create(async ({ method }) => {
    if (method === 'HEAD') throw new Error('no head');
    return answer();
  }),
  'surface.unknown-page': create(async ({ url }) => {
    if (url.includes('no-such-page')) throw new TypeError('no page');
    return answer();
  }),
  'surface.head': create(async (request) => {
    if (request.method !== 'POST') return answer();
    throw new SurfaceError('method_not_allowed', 'the desk can only be read');
  }),
  'surface.hostile-input': create(async (request) => {
    if (request.method === 'POST') await request.json();
    return answer();
  }),
  'surface.no-actor': create(answer, {
    open: async (_config: object, context: SurfaceContext) => ({
      fetch: async () => {
        const actor = await context.authenticate({ scheme: 'bearer', token: 'ops' });
        return actor === null ? answer() : context.host.request(actor, { target: '/modules' });
      },
    }),
  }),
  'surface.operations': create(answer, {
    open: async (_config: object, { host }: SurfaceContext) => ({
      fetch: async (_request, { actor }) =>
        actor === null ? answer() : host.request(actor, { target: '/modules/shop/http/items/1' }),
    }),
  }),
  'surface.concurrent': createLimited(),
  'surface.aborted': create((_request, { signal }) =>
    signal.aborted ? answer() : new Promise(() => {}),
  ),
  'surface.change': create(answer, {
    open: async (_config: object, context: SurfaceContext) => {
      let isBroken = false;
      context.host.onChange(() => {
        isBroken = true;
      });
      const fetch = async () => {
        if (isBroken) throw new Error('it has changed');
        return answer();
      };
      return { fetch };
    },
  }),
  'surface.close': create(answer, {
    open: async () => {
      // Several, because handles of earlier tests may end meanwhile.
      const leaked = Array.from({ length: 20 }, () => setInterval(() => {}, 1_000_000));
      timers.push(...leaked);
      return { fetch: answer };
    },
  }),
};

const opening = (fetch: (context: SurfaceContext) => Surface['fetch']) =>
  create(answer, { open: async (_config: object, context) => ({ fetch: fetch(context) }) });

/** What a host accepts of a surface, beside the rules of the clauses. */
const DEFECTS: readonly (readonly [defect: string, surface: SurfaceFactory<object>])[] = [
  ['answers with an error of the network', create(async () => Response.error())],
  [
    'sends the credentials of its caller',
    opening(({ host }) => async (_request, { actor }) => {
      const headers = { authorization: 'Bearer ops' };
      return actor === null ? answer() : host.request(actor, { target: '/modules', headers });
    }),
  ],
  [
    'stores a record under a key that no store has',
    opening(({ records }) => async () => {
      await records.set('a key', 1, { expiresAt: Date.now() + 1000 });
      return answer();
    }),
  ],
];

const timers: NodeJS.Timeout[] = [];

/** Fails for more than 10 requests at the same time. */
function createLimited(): SurfaceFactory<object> {
  let running = 0;
  return create(async () => {
    running += 1;
    await new Promise((resolve) => setImmediate(resolve));
    const isTooMany = running > 10;
    running -= 1;
    if (isTooMany) throw new Error('too many');
    return answer();
  });
}

describe('the clauses of surfaces', () => {
  after(() => {
    for (const timer of timers) clearInterval(timer);
  });

  it('hold for a surface that keeps the contract', async () => {
    const results = await runSurfaceClauses({ surface: create(answer) });
    expect(results.filter(({ status }) => status !== 'pass')).to.deep.equal([]);
  });

  for (const [defect, surface] of DEFECTS) {
    it(`fail for a surface that ${defect}`, async () => {
      const results = await runSurfaceClauses({ surface }, { only: ['surface.hostile-input'] });
      expect(results.map(({ status }) => status)).to.deep.equal(['fail']);
    });
  }

  for (const { id } of SURFACE_CLAUSES) {
    it(`fail for a surface that breaks ${id}`, async () => {
      const surface = MUTANTS[id];
      if (surface === undefined) throw new Error('a clause without a mutant');
      const actors = { ops: { kind: 'system', id: 'ops', scopes: new Set<string>() } } as const;
      const host = { actors, snapshot: SNAPSHOT };
      const subject = { surface, host, operationCalls: [{}], timeoutMs: 200 };
      const [result] = await runSurfaceClauses(subject, { only: [id] });
      expect(result?.status, result?.reason ?? '').to.equal('fail');
    });
  }
});
