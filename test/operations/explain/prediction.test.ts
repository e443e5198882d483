import { expect } from 'chai';
import fc from 'fast-check';
import { bridgeBody, bridgeTarget, RELEASE, UI } from '../../support/bridge/bridge.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule, METHODS } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const NAMES = ['one', 'two', 'three', 'four', 'five', 'acme/six'];
const SCOPES = ['a.read', 'a.write', 'b.read'];
const KINDS = ['service', 'system', 'user'] as const;
/** Explains for those that have no credentials; each explainer may look up few tokens. */
const EXPLAINERS = 40;

const segment = fc.constantFrom('items', '7', 'a b', 'x;y', 'long');
const template = fc
  .array(fc.constantFrom('items', '7', '{id}', 'long'), { minLength: 1, maxLength: 3 })
  .filter((parts) => parts.filter((part) => part === '{id}').length < 2);

/** The parts of a descriptor that decide about a request. */
const descriptor = fc.record({
  enabled: fc.constantFrom(true, true, true, false),
  callers: fc.option(fc.uniqueArray(fc.constantFrom(...KINDS), { minLength: 1 }), {
    nil: undefined,
  }),
  grants: fc.uniqueArray(fc.constantFrom(...SCOPES)),
  ui: fc.constantFrom([UI], [UI], []),
  routes: fc.uniqueArray(
    fc.record(
      {
        method: fc.constantFrom(...METHODS),
        path: template.map((parts) => `/${parts.join('/')}`),
        capability: fc.constantFrom(...SCOPES),
      },
      { requiredKeys: ['method', 'path'] },
    ),
    { selector: ({ method, path }) => `${method} ${path}`, minLength: 3, maxLength: 6 },
  ),
});

/** `null` has no credentials. Every other actor may explain itself. */
const actor = fc.option(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    scopes: fc.uniqueArray(fc.constantFrom(...SCOPES, 'console.admin')),
  }),
  { freq: 8 },
);

const path = fc.oneof(
  { weight: 8, arbitrary: fc.array(segment, { maxLength: 3 }).map((parts) => encode(parts)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/a//b', '/..', '/%00', '/%2e%2e', '/{id}', '/items/%ff'),
  },
);

/** The same host in each run. */
const files = fc.sample(descriptor, { numRuns: NAMES.length, seed: 20 });

const declared = files.flatMap(({ routes }, index) =>
  routes.map(({ method, path: route }) => ({
    method,
    target: `/modules/${encodeURIComponent(NAMES[index] ?? '')}/http${route.replace('{id}', '7')}`,
  })),
);
const method = fc.constantFrom(...METHODS, 'HEAD', 'OPTIONS');
const anyName = fc.constantFrom(...NAMES, 'unknown', 'Bad').map(encodeURIComponent);

const request = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(...declared),
      fc.record({
        method,
        target: fc.tuple(anyName, path).map(([name, local]) => `/modules/${name}/http${local}`),
      }),
      fc.record({
        method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE'),
        target: fc
          .tuple(anyName, fc.constantFrom(...SCOPES, 'c.none'))
          .map(([name, permission]) => bridgeTarget(name, permission)),
      }),
    ),
    actor,
  )
  .map(([sent, caller]) => ({ ...sent, actor: caller }));

interface Outcome {
  readonly step: string | null;
  readonly status: number | null;
  /** What a 401 says. */
  readonly words?: unknown;
}

interface Explained {
  readonly verdict: { readonly status: number | null };
  readonly checks: readonly {
    readonly check: string;
    readonly outcome: string;
    readonly status: number | null;
    readonly detail: string;
  }[];
}

describe('prediction of explain', () => {
  const setup = useHost(
    ({ url }) =>
      Object.fromEntries(
        files.map(({ routes, grants, ui, ...members }, index) => {
          const console = { release: RELEASE, ui, grants };
          const module = describeModule(NAMES[index] ?? '', url, routes, { ...members, console });
          return [`m${index}.json`, module];
        }),
      ),
    { isDescribed: false },
  );
  let count = 0;

  const predict = async (method: string, target: string, as: string | null): Promise<Outcome> => {
    const query = `/explain?method=${method}&target=${encodeURIComponent(target)}`;
    const explainer = `dev-service:ops-${count % EXPLAINERS}:modgate.explain`;
    const response = await call(
      setup.host,
      as === null
        ? { target: query, as: explainer, headers: [['modgate-explain-as', 'anonymous']] }
        : { target: query, as },
    );
    const { checks, verdict } = parseJson(response) as unknown as Explained;
    const failed = checks.find(({ outcome }) => outcome === 'fail');
    expect(verdict.status, 'verdict').to.be.oneOf([failed?.status ?? 200, failed ? -1 : null]);
    const { check = null, status = null, detail } = failed ?? {};
    return { step: check, status, ...(status === 401 && { words: detail }) };
  };

  const happen = async (method: string, target: string, as: string | null): Promise<Outcome> => {
    const id = `prediction-${count}`;
    const permission = target.split('/').at(-1) ?? '';
    const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    const payload = { operation: 'modules_metadata' };
    const body = target.includes('/console-bridge/') ? bridgeBody({ permission, payload }) : {};
    const response = await call(setup.host, {
      method,
      target,
      as,
      headers: [['x-request-id', id], ...(hasBody ? [JSON_TYPE] : [])],
      ...(hasBody && { body: Buffer.from(JSON.stringify(body)) }),
    });
    const { status } = response;
    if (status === 200) return { step: null, status: null };
    let step: string | null = null;
    await waitUntil('the record of the request', async () => {
      const calls = await call(setup.host, { target: `/calls?request_id=${id}` });
      step = (parseJson(calls) as { calls: { step: string | null }[] }).calls[0]?.step ?? null;
      return step !== null;
    });
    const words = status === 401 && method !== 'HEAD' && { words: parseJson(response)['detail'] };
    return { step, status, ...words };
  };

  it('names the step and the status that a request then has', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(request, async ({ method, target, actor: caller }) => {
        count += 1;
        const scopes = [...(caller?.scopes ?? []), 'modgate.explain'].join(',');
        const isSystem = caller?.kind === 'system';
        const as = caller && `dev-${caller.kind}:a${isSystem ? '' : `:${scopes}`}`;
        const predicted = await predict(method, target, as);
        const happened = await happen(method, target, as);
        seen.add(`${happened.step}`);
        // Whether a module declares an operation is in the body, which explain does not know.
        if (predicted.step === null && happened.step === 'operation') return;
        const { words, ...decided } = predicted;
        const expected = method === 'HEAD' ? decided : predicted;
        expect(happened, `${method} ${target} as ${as}: ${words}`).to.deep.equal(expected);
      }),
      { numRuns: 300 },
    );
    // Otherwise the generated requests show little.
    expect([...seen]).to.include.members(['null', 'actor', 'callers', 'module', 'route']);
    expect([...seen]).to.include.members(['capability', 'permission', 'grant']);
  }).timeout(60_000);
});

function encode(parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
