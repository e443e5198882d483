import { expect } from 'chai';
import fc from 'fast-check';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import {
  createHostOptions,
  describeExchange,
  ROLE_TOKENS,
} from '../../support/auth/role-tokens.js';
import { bridgeBody, bridgeTarget, RELEASE, UI } from '../../support/bridge/bridge.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule, METHODS } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { createFolder } from '../../support/temporary-folder.js';

const NAMES = ['one', 'two', 'three', 'four', 'five', 'acme/six', 'seven'];
const SCOPES = ['a.read', 'a.write', 'b.read'];
const KINDS = ['service', 'system', 'user'] as const;
const FORMS = ['plain', 'plain', 'events', 'handshake'] as const;
/** Explains for those that have no credentials; each explainer may look up few tokens. */
const EXPLAINERS = 40;

const segment = fc.constantFrom('items', '7', 'a b', 'x;y', 'long');
const template = fc
  .array(fc.constantFrom('items', '7', '{id}', 'long'), { minLength: 1, maxLength: 3 })
  .filter((parts) => parts.filter((part) => part === '{id}').length < 2);

/** Only a GET has a cache or a stream. */
function operationOf(method: string): fc.Arbitrary<object> {
  const forAll = [{}, {}, { idempotency: 'requires_key' }, { response: 'bytes' }];
  const forGet = [{ cache: { ttl_ms: 60_000 } }, { stream: 'sse' }, { stream: 'websocket' }];
  return fc.constantFrom(...(method === 'GET' ? [...forAll, ...forGet] : forAll));
}

/** The parts of a descriptor that decide about a request. */
const descriptor = fc.record({
  callers: fc.option(fc.uniqueArray(fc.constantFrom(...KINDS), { minLength: 1 }), {
    nil: undefined,
  }),
  grants: fc.uniqueArray(fc.constantFrom(...SCOPES)),
  ui: fc.constantFrom([UI], [UI], []),
  routes: fc.uniqueArray(
    fc
      .record({
        method: fc.constantFrom(...METHODS, 'GET'),
        path: template.map((parts) => `/${parts.join('/')}`),
        rights: fc.option(
          fc.record(
            { capability: fc.constantFrom(...SCOPES), access: fc.constant('public') },
            { requiredKeys: ['capability'] },
          ),
          { freq: 4, nil: {} },
        ),
      })
      .chain(({ rights, ...route }) =>
        operationOf(route.method).map((operation) => ({ ...route, ...rights, operation })),
      ),
    { selector: ({ method, path }) => `${method} ${path}`, minLength: 4, maxLength: 6 },
  ),
});

const developer = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    scopes: fc.uniqueArray(fc.constantFrom(...SCOPES, 'console.admin')),
  })
  .map(({ kind, scopes }) => {
    const held = kind === 'system' ? '' : `:${[...scopes, 'modgate.explain'].join(',')}`;
    return `dev-${kind}:a${held}`;
  });

/** A token; `null` for no credentials. Every other actor may explain itself. */
const actor = fc.option(
  fc.oneof(
    { weight: 4, arbitrary: developer },
    { weight: 1, arbitrary: fc.constantFrom(...ROLE_TOKENS) },
  ),
  { freq: 8 },
);

const path = fc.oneof(
  { weight: 8, arbitrary: fc.array(segment, { maxLength: 3 }).map((parts) => encode(parts)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/a//b', '/..', '/%00', '/%2e%2e', '/{id}', '/items/%ff'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('/items/a%2Fb', '/files/a%2Fb', '/files/%252F', '/files/%00'),
  },
);

/** The settings that apply to every call of a module: one module each. @param url of the provider */
const listSpecial = (url: string): readonly object[] => [
  { enabled: false },
  { allow: { addresses: ['10.0.0.0/8'] } },
  { rate: { per_second: 0.001, burst: 1 }, allow: { addresses: ['127.0.0.0/8'] } },
  { public: true },
  { public: true, callers: ['system'] },
  { responses: { mode: 'raw' } },
  // No caller has a token that can be exchanged.
  { provider: describeExchange(url) },
];

/** Each module has one route of each kind, besides those that are generated. */
const KINDS_OF_ROUTES = [
  { path: '/events', operation: { stream: 'sse' } },
  { path: '/socket', operation: { stream: 'websocket' } },
  { path: '/kept', operation: { cache: { ttl_ms: 60_000 } } },
  { path: '/files/{key...}', operation: { encoded: ['key'] } },
].map((route) => ({ method: 'GET', capability: 'a.read', ...route }));

/** The same host in each run. */
const files = fc
  .sample(descriptor, { numRuns: NAMES.length, seed: 21 })
  .map(({ routes, ...file }) => ({ ...file, routes: [...routes, ...KINDS_OF_ROUTES] }));

/** The addresses of a module: below its name, and at its mount. */
const basesOf = (index: number) => [
  `/modules/${encodeURIComponent(NAMES[index] ?? '')}/http`,
  `/mounted-${index}`,
];

const declared = files.flatMap(({ routes }, index) =>
  routes.flatMap(({ method, path: route }) =>
    ['7', 'a%2Fb'].flatMap((value) =>
      basesOf(index).map((base) => ({
        method,
        target: `${base}${route.replace('{id}', value).replace('{key...}', 'a%2Fb/c')}`,
      })),
    ),
  ),
);
const method = fc.constantFrom(...METHODS, 'HEAD', 'OPTIONS');
const anyBase = fc
  .constantFrom(...NAMES, 'unknown', 'Bad')
  .map((name) => `/modules/${encodeURIComponent(name)}/http`);
const anyName = fc.constantFrom(...NAMES, 'unknown', 'Bad').map(encodeURIComponent);

const request = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...declared) },
      fc.record({
        method,
        target: fc
          .tuple(
            fc.oneof(
              anyBase,
              fc.nat(NAMES.length - 1).map((index) => `/mounted-${index}`),
            ),
            path,
          )
          .map(([base, local]) => `${base}${local}`),
      }),
      fc.record({
        method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'DELETE'),
        target: fc
          .tuple(anyName, fc.constantFrom(...SCOPES, 'c.none'))
          .map(([name, permission]) => bridgeTarget(name, permission)),
      }),
    ),
    actor,
    fc.constantFrom(...FORMS),
  )
  .map(([sent, as, form]) => ({ ...sent, as, form }));

/** The headers that `explain` does not know, by the form of a GET. */
const HEADERS: Readonly<Record<(typeof FORMS)[number], readonly RawHeader[]>> = {
  plain: [],
  events: [['accept', 'text/event-stream']],
  handshake: [
    ['connection', 'upgrade'],
    ['upgrade', 'websocket'],
    ['sec-websocket-version', '13'],
    ['sec-websocket-key', 'dGhlIHNhbXBsZSBub25jZQ=='],
  ],
};

interface Outcome {
  readonly step: string | null;
  readonly status: number | null;
  /** The challenges of a 401. */
  readonly words?: unknown;
}

interface Prediction extends Outcome {
  /** The steps up to there that only a call can decide. */
  readonly open: readonly string[];
}

/** The host's own paths have no steps to predict: below a mount of a module that is not live. */
const HOST_STEPS = ['host', 'actor'];
/** The bridge's `operation` is in the body, which `explain` does not know. */
const IN_BODY = ['operation'];

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
  const folder = createFolder();
  const setup = useHost(
    ({ url }) =>
      Object.fromEntries(
        files.map(({ routes, grants, ui, ...members }, index) => {
          const module = describeModule(NAMES[index] ?? '', url, routes, {
            ...members,
            ...listSpecial(url)[index],
            mount: [{ path: `/mounted-${index}` }],
            console: { release: RELEASE, ui, grants },
          });
          return [`m${index}.json`, module];
        }),
      ),
    { isDescribed: false, ...createHostOptions(folder) },
  );
  let count = 0;

  const predict = async (
    method: string,
    target: string,
    as: string | null,
  ): Promise<Prediction> => {
    const query = `/explain?client=127.0.0.1&method=${method}&target=${encodeURIComponent(target)}`;
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
    const reached = failed === undefined ? checks : checks.slice(0, checks.indexOf(failed));
    const unknown = reached.filter(({ outcome }) => outcome === 'unknown');
    const open = unknown.map(({ check }) => check);
    if (verdict.status === null && checks.length === 0) open.push(...HOST_STEPS);
    if (target.includes('/console-bridge/')) open.push(...IN_BODY);
    return { step: check, status, open, ...(status === 401 && { words: detail }) };
  };

  const happen = async (
    method: string,
    target: string,
    as: string | null,
    form: (typeof FORMS)[number],
  ): Promise<Outcome> => {
    const id = `prediction-${count}`;
    const permission = target.split('/').at(-1) ?? '';
    const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    const payload = { operation: 'modules_metadata' };
    const body = target.includes('/console-bridge/') ? bridgeBody({ permission, payload }) : {};
    const response = await call(setup.host, {
      method,
      target,
      as,
      headers: [
        ['x-request-id', id],
        ...(method === 'GET' ? HEADERS[form] : []),
        ...(hasBody ? [JSON_TYPE] : []),
      ],
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
    const steps = new Set<string>();
    /** The steps at which requests ended, by what was special about them. */
    const ends = new Map<string, Set<string>>();
    await fc.assert(
      fc.asyncProperty(request, async ({ method, target, as, form }) => {
        count += 1;
        const predicted = await predict(method, target, as);
        const happened = await happen(method, target, as, form);
        steps.add(`${happened.step}`);
        for (const kind of listKinds(method, target, as, form)) {
          ends.set(kind, (ends.get(kind) ?? new Set()).add(`${happened.step}`));
        }
        const { words, open, ...decided } = predicted;
        const name = `${method} ${target} as ${as}, ${form}: ${words}`;
        if (decided.step === null || open.includes(happened.step ?? '')) {
          expect(happened.step, name).to.be.oneOf([null, ...open]);
          return;
        }
        const hasWords = words !== undefined && method !== 'HEAD';
        expect(happened, name).to.deep.equal({ ...decided, ...(hasWords && { words }) });
      }),
      {
        numRuns: 600,
        examples: fc.sample(request, { numRuns: 500, seed: 21 }).map((value) => [value]),
      },
    );
    // Otherwise the generated requests show little.
    expect([...steps]).to.include.members(['null', 'actor', 'callers', 'module', 'route']);
    expect([...steps]).to.include.members(['capability', 'permission', 'grant']);
    expect([...steps]).to.include.members(['client', 'protocol', 'accept', 'rate']);
    expect([...steps]).to.include.members(['idempotency-key', 'ui', 'host', 'provider']);
    const endsOf = (kind: string) => [...(ends.get(kind) ?? [])];
    expect(endsOf('role')).to.include.members(['null', 'callers', 'capability']);
    expect(endsOf('encoded')).to.include.members(['null', 'capability']);
    expect(endsOf('slash')).to.include('route');
    expect(endsOf('cache')).to.include.members(['null', 'capability']);
    expect(endsOf('exchange')).to.include.members(['provider', 'capability']);
    expect(endsOf('handshake')).to.include('provider');
    expect(endsOf('events')).to.include('provider');
  }).timeout(60_000);
});

function listKinds(method: string, target: string, as: string | null, form: string): string[] {
  const isGet = method === 'GET';
  const kinds = {
    role: as?.startsWith('token-'),
    encoded: isGet && target.endsWith('/files/a%2Fb/c'),
    slash: target.endsWith('/a%2Fb'),
    cache: isGet && target.endsWith('/kept'),
    exchange: target.startsWith('/mounted-6/') || target.startsWith('/modules/seven/http/'),
    handshake: isGet && target.endsWith('/socket') && form === 'handshake',
    events: isGet && target.endsWith('/events') && form === 'events',
  };
  return Object.entries(kinds).flatMap(([kind, isOne]) => (isOne ? kind : []));
}

function encode(parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
