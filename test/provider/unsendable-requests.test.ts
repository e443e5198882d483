import { expect } from 'chai';
import { headerValues } from '../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../support/http/call.js';
import { expectProblem, reasonOf } from '../support/http/expect-problem.js';
import { waitUntil } from '../support/http/wait-until.js';
import { CONTRACT_URL, SUPERSTRUCT_URL, writePlugin } from '../support/isolation/write-plugin.js';
import { startHost } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

/** A kind whose calls fail as their body says, and answer without one. */
const ENTRY = `import { defineAdapter, ProviderFailure } from ${JSON.stringify(CONTRACT_URL)};
import { any } from ${JSON.stringify(SUPERSTRUCT_URL)};
const adapter = defineAdapter({
  kind: 'acme-picky',
  config: any(),
  supports: {},
  open: () => ({
    manifest: async () => { throw new Error('it is inline'); },
    check: async () => {},
    invoke: async ({ operation }) => {
      const { failure, ...options } = JSON.parse(Buffer.from(operation.body ?? []).toString() || '{}');
      if (failure !== undefined) throw new ProviderFailure(failure, 'of the test', options);
      const headers = { 'content-type': 'application/json' };
      return { status: 200, headers, body: Buffer.from('"done"') };
    },
  }),
});
export default { adapters: [adapter] };`;

const manifest = {
  protocol: 'modgate.manifest.v1',
  module_id: 'picky',
  capabilities: ['picky.use'],
  http_routes: [
    {
      method: 'POST',
      path: '/orders',
      capability: 'picky.use',
      operation: { body: 'optional' },
    },
  ],
};
const describeModule = (module: string, others: object = {}) => ({
  module,
  provider: { kind: 'acme-picky', config: {} },
  manifest: { inline: manifest },
  breaker: { failures: 1, ratio: 0.1 },
  ...others,
});
const AS = 'dev-service:tester:picky.use,modgate.modules.read';
const PARTS = [
  { field: '/items/0/amount', reason: 'must be a number' },
  { field: 'query.page', reason: 'must be given once' },
];

interface ShownModule {
  readonly name: string;
  readonly counts: { readonly failed: number };
}

describe('requests that an adapter cannot send', () => {
  let folder = '';

  const host = use(() => {
    folder = createFolder();
    writePlugin(folder, {
      name: 'acme-picky',
      manifest: { kinds: ['acme-picky'] },
      entry: ENTRY,
    });
    return startHost({
      args: ['--plugins', folder],
      files: {
        'picky.json': describeModule('picky'),
        'passed.json': describeModule('passed', { provider_errors: 'passthrough' }),
        'raw.json': describeModule('raw', { responses: { mode: 'raw' } }),
      },
    });
  });

  before(async () => {
    await waitUntil('the module', async () => (await post('picky')).status === 200);
  });

  const post = (module: string, failure?: object) =>
    call(host, {
      method: 'POST',
      target: `/modules/${module}/http/orders`,
      as: AS,
      ...(failure !== undefined && {
        headers: [JSON_TYPE],
        body: Buffer.from(JSON.stringify(failure)),
      }),
    });
  const readModule = async () => {
    const { modules } = parseJson(await call(host, { target: '/modules', as: AS }));
    const [found] = (modules as ShownModule[]).filter(({ name }) => name === 'picky');
    return found as ShownModule;
  };
  const unfit = (invalid: unknown, others: object = {}) => ({
    failure: 'refused',
    phase: 'preparing',
    invalid,
    ...others,
  });

  for (const module of ['picky', 'passed', 'raw']) {
    it(`are 400 with each part that does not fit: ${module}`, async () => {
      const problem = expectProblem(await post(module, unfit(PARTS)), 400);
      expect(problem).to.include({ code: 'validation_failed' });
      expect(problem.errors).to.deep.equal(PARTS);
    });
  }

  it('are no failures of the module, and open no circuit breaker', async () => {
    const failed = async () => (await readModule()).counts.failed;
    const before = await failed();
    for (let round = 0; round < 3; round += 1) await post('picky', unfit(PARTS));
    expect(await failed()).to.equal(before);
    expect((await post('picky')).status).to.equal(200);
  });

  it('show at most 20 parts, shortened, without the credentials of the caller', async () => {
    const many = Array.from({ length: 30 }, () => ({
      field: `/${'x'.repeat(300)}`,
      reason: `must not be ${AS}`,
    }));
    const { errors = [] } = expectProblem(await post('picky', unfit(many)), 400);
    expect(errors).to.have.lengthOf(20);
    expect(errors[0]?.field).to.have.lengthOf(200);
    expect(errors[0]?.reason)
      .to.match(/^must not be /)
      .and.not.include('tester');
  });

  it('mask credentials before parts are shortened', async () => {
    const reason = `${'x'.repeat(196)}${AS}`;
    const { errors = [] } = expectProblem(
      await post('picky', unfit([{ field: '/a', reason }])),
      400,
    );
    expect(errors[0]?.reason).to.equal(`${'x'.repeat(196)}[red`);
  });

  it('need parts of the right form, and the right code and phase', async () => {
    for (const invalid of [[], 'all', [null, 1, { field: 1, reason: 'x' }]]) {
      expectProblem(await post('picky', unfit(invalid)), 403);
    }
    const sent = unfit(PARTS, { phase: 'responding' });
    expect(reasonOf(expectProblem(await post('picky', sent), 502), 'failure')).to.equal('refused');
  });

  it('are 503 with retry-after while the provider starts', async () => {
    const starting = { failure: 'unavailable', phase: 'preparing', retryAfterMs: 2500 };
    const response = await post('picky', starting);
    const problem = expectProblem(response, 503);
    expect(problem).to.include({ code: 'unavailable' });
    expect(reasonOf(problem, 'failure')).to.equal('unavailable');
    expect(headerValues(response.headers, 'retry-after')).to.deep.equal(['3']);
    expect((await post('picky')).status).to.equal(200);
  });

  it('are 503 with a retry-after that clients can read', async () => {
    const starting = { failure: 'unavailable', phase: 'preparing', retryAfterMs: 1e300 };
    const { headers } = await post('picky', starting);
    expect(headerValues(headers, 'retry-after')).to.deep.equal(['2147483647']);
  });

  it('are 502 for a provider that does not say when it has started', async () => {
    for (const retryAfterMs of [undefined, 0, -1, 'soon']) {
      const starting = { failure: 'unavailable', phase: 'preparing', retryAfterMs };
      expectProblem(await post('picky', starting), 502);
    }
  });
});
