import { join } from 'node:path';
import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { waitUntil } from '../../support/http/wait-until.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { scrape } from '../../support/observability/exposition.js';
import { answerJson, startProvider } from '../../support/provider.js';
import { startHost, startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

const TOKEN = 'dev-service:me:crm.read,modgate.candidate.read';
const MIB = 1_048_576;
const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'POST', path: '/items', capability: 'crm.read' },
];
/** The number of digits at the start of an id. */
const IDS = 16 ** 8;

/** Signs each request with a number of its own; with a key, it fails for copies and quotes the key. */
const SIGNER = `import { defineSigner, ProviderFailure, secretReference } from ${JSON.stringify(CONTRACT_URL)};
import { object, optional } from ${JSON.stringify(SUPERSTRUCT_URL)};
let signed = 0;
export default { signers: [
  defineSigner({
    name: 'acme-count',
    config: object({ key: optional(secretReference()) }),
    open: ({ key }, context) => ({
      sign: ({ url, headers }) => {
        if (key !== undefined && headers.has('modgate-candidate')) {
          throw new ProviderFailure('unavailable', 'no key ' + context.secret(key).reveal(), { phase: 'preparing' });
        }
        signed += 1;
        return { authorization: 'ACME ' + signed + ' ' + url, 'x-signed': headers.get('modgate-call-id') };
      },
    }),
  }),
] };`;

describe('copies for a candidate', () => {
  let body: unknown = { a: 1 };
  let isHeld = false;
  let isDenied = false;
  const held: (() => void)[] = [];

  const release = () => {
    isHeld = false;
    for (const answer of held.splice(0)) answer();
  };
  const describe = (
    module: string,
    members: object = {},
    config: object = {},
    overrides: object = {},
  ) =>
    describeModule(module, live.url, ROUTES, {
      provider: { kind: 'http', config: { endpoints: [live.url], ...config } },
      candidate: { endpoints: [candidate.url], share: 1, concurrency: 1000, ...members },
      limits: { timeout_ms: 60_000, request_bytes: 16 * MIB },
      ...overrides,
    });

  const folder = createFolder();
  const live = use(() => {
    const manifest = { kinds: undefined, signers: ['acme-count'] };
    writePlugin(join(folder, 'plugins'), { name: 'acme', manifest, entry: SIGNER });
    return startProvider((request, response) => answerJson(body)(request, response));
  });
  const candidate = use(() =>
    startProvider((request, response) => {
      if (isDenied) response.statusCode = 401;
      const answer = () => answerJson(body)(request, response);
      if (isHeld) held.push(answer);
      else answer();
    }),
  );
  const issuer = use(() => {
    let tokens = 0;
    return startProvider((request, response) => {
      tokens += 1;
      const token = { access_token: `token-${tokens}`, token_type: 'Bearer', expires_in: 3600 };
      answerJson(token)(request, response);
    });
  });
  const host = use(() => {
    const oauth2 = {
      token_url: `${issuer.url}/token`,
      client_id: 'gateway',
      client_secret: 'env:CRM_SECRET',
    };
    return startHost({
      env: { CRM_SECRET: 'secret-of-the-client', SIGNING: 'secret-of-the-signer' },
      args: [
        ...['--plugins', join(folder, 'plugins')],
        ...['--memory-budget', '32MiB', '--actor-budget', '32MiB'],
      ],
      files: {
        'signed.json': describe('signed', {}, { auth: { signer: 'acme-count', config: {} } }),
        'quoted.json': describe(
          'quoted',
          {},
          { auth: { signer: 'acme-count', config: { key: 'env:SIGNING' } } },
        ),
        'oauth.json': describe('oauth', {}, { auth: { oauth2 } }),
        'half.json': describe('half', { share: 0.5 }),
        'large.json': describe('large', { methods: ['GET'] }),
        'changed.json': describe('changed'),
      },
    });
  });

  beforeEach(() => {
    body = { a: 1 };
    (live.requests as unknown[]).length = 0;
    (candidate.requests as unknown[]).length = 0;
  });
  afterEach(release);

  const send = (module: string, overrides: object = {}) =>
    call(host, { target: `/modules/${module}/http/items`, as: TOKEN, ...overrides });
  const countsOf = async (module: string) => {
    const response = await call(host, { target: `/candidate?module=${module}`, as: TOKEN });
    const { totals } = parseJson(response) as { totals: readonly Record<string, number>[] };
    const sum = { same: 0, different: 0, failed: 0, dropped: 0 };
    for (const row of totals) {
      for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += row[name] ?? 0;
    }
    return sum;
  };
  const waitForCopies = (count: number) =>
    waitUntil(`${count} copies`, () => candidate.requests.length >= count);

  it('are signed anew', async () => {
    expect((await send('signed')).status).to.equal(200);
    await waitForCopies(1);
    const [ours, copy] = [live.requests[0]?.headers, candidate.requests[0]?.headers];
    expect(ours?.authorization).to.equal(`ACME 1 ${live.url}/items`);
    expect(copy?.authorization).to.equal(`ACME 2 ${candidate.url}/items`);
    expect(copy?.['x-signed']).to.equal(ours?.['modgate-call-id']);
  });

  it('are logged without the secrets of the signer', async () => {
    expect((await send('quoted')).status).to.equal(200);
    const find = () => host.logs().find(({ msg }) => msg === 'candidate did not answer');
    await waitUntil('the copy has failed', () => find() !== undefined);
    expect(find()?.['failure_detail']).to.equal('no key [redacted]');
  });

  it('have a token of the same client, and their 401 leaves that of live calls', async () => {
    isDenied = true;
    await send('oauth');
    await waitUntil('the copy has ended', async () => (await countsOf('oauth')).different === 1);
    await send('oauth');
    await waitUntil('the second one too', async () => (await countsOf('oauth')).different === 2);
    isDenied = false;
    const sent = live.requests.map(({ headers }) => headers.authorization);
    expect(sent[0]).to.match(/^Bearer token-\d$/);
    expect(sent).to.deep.equal([sent[0], sent[0]]);
    for (const { headers } of candidate.requests) {
      expect(headers.authorization).to.match(/^Bearer token-\d$/);
    }
    const [first] = issuer.requests;
    expect(issuer.requests.length).to.be.above(1);
    for (const request of issuer.requests) {
      expect(request.body.equals(first?.body ?? Buffer.alloc(0))).to.equal(true);
      expect(request.headers.authorization).to.equal(first?.headers.authorization);
    }
  });

  it('are made of the share of calls that their ids choose', async () => {
    for (let count = 0; count < 60; count += 1) await send('half');
    const ids = live.requests.map(({ headers }) => String(headers['modgate-call-id']));
    const chosen = ids.filter((id) => Number.parseInt(id.slice(0, 8), 16) / IDS < 0.5);
    expect(chosen).to.have.length.within(1, 59);
    await waitUntil('all have ended', async () => (await countsOf('half')).same === chosen.length);
    const copied = candidate.requests.map(({ headers }) => headers['modgate-call-id']);
    expect(copied).to.have.members(chosen);
  });

  it('are dropped before a request is rejected for lack of memory', async () => {
    isHeld = true;
    body = 'x'.repeat(250_000);
    for (let count = 0; count < 100; count += 1) expect((await send('large')).status).to.equal(200);
    await waitForCopies(100);
    expect((await countsOf('large')).dropped).to.equal(0);
    const upload = Buffer.from(`"${'y'.repeat(12 * MIB)}"`);
    body = { a: 1 };
    const { status } = await send('large', { method: 'POST', headers: [JSON_TYPE], body: upload });
    expect(status).to.equal(200);
    await waitUntil('copies are dropped', async () => (await countsOf('large')).dropped > 0);
    release();
    await waitUntil('the others end', async () => {
      const { same, different, dropped } = await countsOf('large');
      return same + different + dropped === 100;
    });
    expect((await countsOf('large')).dropped).to.be.below(100);
    expect((await scrape(host)).sum('modgate_memory_rejected_total')).to.equal(0);
  });

  it('end with the version that made them, and with the host', async () => {
    isHeld = true;
    await send('changed');
    await waitForCopies(1);
    host.drop('changed.json', describe('changed', { share: 0 }));
    await waitUntil('the copy is dropped', async () => (await countsOf('changed')).dropped === 1);
    await send('signed');
    await waitForCopies(2);
    // The copy would take a minute.
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
  });
});

describe('the copies of a host with two workers', () => {
  it('are summed, with their differences', async () => {
    const live = await startProvider(answerJson({ a: 1 }));
    const candidate = await startProvider(answerJson({ a: 2 }));
    const members = { candidate: { endpoints: [candidate.url], share: 1 } };
    const host = await startHostProcess({
      args: ['--workers', '2'],
      files: { 'crm.json': describeModule('crm', live.url, ROUTES, members) },
    });
    try {
      const send = () => call(host, { target: '/modules/crm/http/items', as: TOKEN });
      const read = async () => {
        const response = await call(host, { target: '/candidate?module=crm', as: TOKEN });
        return parseJson(response) as { totals: object[]; differences: { request_id: string }[] };
      };
      // Each has a connection of its own, so both workers serve.
      for (let round = 0; round < 4; round += 1) await Promise.all(Array.from({ length: 6 }, send));
      const counts = { same: 0, different: 24, failed: 0, dropped: 0 };
      await waitUntil('all have ended', async () => {
        const [row] = (await read()).totals;
        return JSON.stringify(row) === JSON.stringify({ route: 'GET /items', ...counts });
      });
      const { differences } = await read();
      expect(new Set(differences.map(({ request_id: id }) => id))).to.have.property('size', 24);
      const counted =
        'modgate_candidate_total{module="crm",route="GET /items",result="different"} 24';
      // A scrape does not wait long for a busy worker.
      await waitUntil('the copies are counted', async () => {
        const { body } = await call(host, { target: '/metrics', as: 'dev-system:root' });
        return body.toString().includes(`${counted}\n`);
      });
    } finally {
      await host.stop();
      await live.stop();
      await candidate.stop();
    }
  });
});
