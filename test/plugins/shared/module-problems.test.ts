import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace, type Workplace } from '../../support/cli/run-in.js';

interface Kind {
  readonly config: object;
  /** A route that the kind carries. */
  readonly route: object;
}

const CAPABILITY = 'shop.use';
const KINDS: Readonly<Record<string, Kind>> = {
  grpc: {
    config: { endpoints: ['grpc://127.0.0.1:50051'], descriptors: { reflection: true } },
    route: { method: 'POST', path: '/echo', operation: { grpc: 'shop.v1.Echo/Echo' } },
  },
  mcp: {
    config: { url: 'http://127.0.0.1:3001/mcp' },
    route: { method: 'POST', path: '/tools/echo' },
  },
  amqp: {
    config: { url: 'amqp://127.0.0.1', queue: 'shop' },
    route: { method: 'POST', path: '/echo' },
  },
};

const MORE_THAN_ROUTES = {
  admin: {
    entities: [{ name: 'orders', read_capability: CAPABILITY, list_path: '/orders' }],
    actions: [{ name: 'close', capability: CAPABILITY, invoke_path: '/close' }],
  },
  config: {
    read_capability: CAPABILITY,
    fields: [{ service: 'shop', key: 'size', type: { kind: 'int' }, default: 1 }],
  },
};

const RESOURCE = { method: 'GET', path: '/resources/{uri}' };
const bytes = { response: 'bytes', encoded: ['uri'] };
const tool = (operation: object) => ({ method: 'POST', path: '/tools/other', operation });

/** What a kind does not carry, by its route, and where it is found. */
const ROUTES: readonly [kind: string, route: object, problem: string | null][] = [
  [
    'grpc',
    { method: 'GET', path: '/list', operation: { grpc: 'shop.v1.Echo/List', stream: 'sse' } },
    'operation.stream',
  ],
  [
    'grpc',
    { method: 'GET', path: '/list', operation: { grpc: 'shop.v1.Echo/List', stream: 'ndjson' } },
    null,
  ],
  ['mcp', { ...RESOURCE, operation: bytes }, null],
  ['mcp', RESOURCE, ''],
  ['mcp', { method: 'GET', path: '/tools/other' }, 'method'],
  ['mcp', { method: 'PUT', path: '/tools/other' }, 'method'],
  ['mcp', { method: 'POST', path: '/other' }, 'path'],
  ['mcp', { method: 'POST', path: '/other', operation: { mcp: { tool: 'other' } } }, null],
  ['mcp', tool({ stream: 'sse' }), 'operation.stream'],
  ['mcp', tool({ stream: 'ndjson' }), 'operation.stream'],
  ['mcp', tool({ body: 'bytes' }), 'operation.body'],
  ['mcp', tool({ response_types: ['text/csv'] }), 'operation.response_types'],
  ['amqp', { method: 'GET', path: '/list', operation: { stream: 'sse' } }, null],
];

const HEADERS: readonly [kind: string, name: string, isProblem: boolean][] = [
  ['grpc', 'grpc-timeout', true],
  ['grpc', 'User-Agent', true],
  ['grpc', 'x-grpc', false],
  ['mcp', 'Mcp-Session-Id', true],
  ['mcp', 'last-event-id', true],
  ['amqp', 'user-agent', false],
];

describe('descriptors and manifests that a kind cannot carry', () => {
  let place: Workplace;

  before(() => {
    place = createWorkplace();
  });

  const problemsOf = async (kind: string, descriptor: object, manifest: object) => {
    const { config, route } = KINDS[kind] as Kind;
    const { http_routes = [], ...parts } = manifest as { http_routes?: readonly object[] };
    const file = {
      module: 'shop',
      provider: { kind, config },
      manifest: {
        inline: {
          protocol: 'modgate.manifest.v1',
          module_id: 'shop',
          capabilities: [CAPABILITY],
          http_routes: [route, ...http_routes].map((each) => ({ capability: CAPABILITY, ...each })),
          ...parts,
        },
      },
      ...descriptor,
    };
    place.write('shop.json', JSON.stringify(file));
    const { findings } = await checkJsonIn(place, 'shop.json');
    const errors = findings.filter(({ severity }) => severity === 'error');
    return errors.map(
      ({ rule, message }) => `${rule} ${String(message).split(/ (?=must|is|needs)/)[0]}`,
    );
  };

  for (const kind of Object.keys(KINDS)) {
    it(`are entities, actions and configuration: ${kind}`, async () => {
      expect(await problemsOf(kind, {}, MORE_THAN_ROUTES)).to.deep.equal([
        "unsupported-by-kind 'admin.entities'",
        "unsupported-by-kind 'admin.actions'",
        "unsupported-by-kind 'config.fields'",
      ]);
    });

    it(`may have routes alone: ${kind}`, async () => {
      expect(await problemsOf(kind, {}, {})).to.deep.equal([]);
    });
  }

  for (const [kind, problems] of Object.entries({ grpc: 1, mcp: 1, amqp: 0 })) {
    it(`${problems === 0 ? 'may' : 'must not'} be in raw mode: ${kind}`, async () => {
      const found = await problemsOf(kind, { responses: { mode: 'raw' } }, {});
      expect(found).to.deep.equal(problems === 0 ? [] : ["unsupported-by-kind 'responses.mode'"]);
    });
  }

  for (const [kind, name, isProblem] of HEADERS) {
    it(`${isProblem ? 'must not' : 'may'} forward ${name}: ${kind}`, async () => {
      const found = await problemsOf(kind, { forward_headers: [name] }, {});
      expect(found).to.deep.equal(isProblem ? ["unsupported-by-kind 'forward_headers[0]'"] : []);
    });
  }

  for (const [kind, route, problem] of ROUTES) {
    it(`${problem === null ? 'may' : 'must not'} have ${JSON.stringify(route)}: ${kind}`, async () => {
      const found = await problemsOf(kind, {}, { http_routes: [route] });
      const place = `http_routes[1]${problem === '' ? '' : `.${problem}`}`;
      expect(found).to.deep.equal(problem === null ? [] : [`unsupported-by-kind '${place}'`]);
    });
  }
});
