import { createHash, createHmac } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue } from '../../../../core/selftest/raw-http.js';
import { checkJsonIn } from '../../../support/cli/check-json.js';
import { createWorkplace } from '../../../support/cli/run-in.js';
import { call, parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { waitUntil } from '../../../support/http/wait-until.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../../support/isolation/write-plugin.js';
import { startProvider } from '../../../support/provider.js';
import { startHostProcess } from '../../../support/start-host.js';
import { createFolder } from '../../../support/temporary-folder.js';
import { use } from '../../../support/use.js';

const SECRET = 'signing-secret-of-nobody';

/** Signs with an HMAC, or does what its config says. */
const ENTRY = `import { createHmac } from 'node:crypto';
import { defineSigner, secretReference } from ${JSON.stringify(CONTRACT_URL)};
import { enums, object, optional } from ${JSON.stringify(SUPERSTRUCT_URL)};
const BAD = {
  throw: () => { throw new TypeError('the message names ${SECRET}'); },
  hang: () => new Promise(() => {}),
  list: () => [],
  host: () => ({ Host: 'elsewhere' }),
  framing: () => ({ 'Transfer-Encoding': 'chunked' }),
  actor: () => ({ Modgate_Actor: 'system' }),
  trace: () => ({ traceparent: 'x' }),
  lines: () => ({ 'x-a': 'b\\r\\nx-c: d' }),
};
let busy = 1;
export default { signers: [
  defineSigner({
    name: 'acme-hmac',
    config: object({ key: secretReference(), mode: optional(enums(Object.keys(BAD))) }),
    open: ({ key, mode }, context) => {
      const secret = context.secret(key);
      context.scope.defer(() => context.log.info({}, 'acme-hmac closed'));
      return {
        sign: async ({ method, url, headers, bodySha256 }) => {
          if (mode !== undefined) return BAD[mode]();
          const text = [method, url, headers.get('content-type') ?? '-', bodySha256].join(' ');
          const signature = createHmac('sha256', secret.reveal()).update(text).digest('hex');
          return { Authorization: 'ACME ' + signature, 'x-acme-date': '20260101' };
        },
      };
    },
  }),
  defineSigner({
    name: 'acme-closed',
    config: object({ key: secretReference() }),
    open: ({ key }, context) => { throw new Error('no license for ' + context.secret(key).reveal()); },
  }),
  defineSigner({
    name: 'acme-busy',
    config: object({ key: secretReference() }),
    open: ({ key }, context) => {
      const message = 'too many files for ' + context.secret(key).reveal();
      if (busy-- > 0) throw Object.assign(new Error(message), { code: 'EMFILE' });
      return { sign: () => ({}) };
    },
  }),
  defineSigner({ name: 'acme-late', config: object({}), open: () => new Promise(() => {}) }),
] };`;

const SIGNERS = ['acme-hmac', 'acme-closed', 'acme-busy', 'acme-late'];

const ROUTES = [
  { method: 'GET', path: '/items', capability: 'crm.read' },
  { method: 'POST', path: '/items', capability: 'crm.read' },
  { method: 'DELETE', path: '/items', capability: 'crm.read' },
];
const AS = 'dev-service:me:crm.read,modgate.calls.read,modgate.modules.read,modgate.plugins.read';
const MODES = ['throw', 'hang', 'list', 'host', 'framing', 'actor', 'trace', 'lines'];

describe('a module with a signer', () => {
  const describeSigned = (module: string, auth: object) =>
    describeModule(module, provider.url, ROUTES, {
      provider: { kind: 'http', config: { endpoints: [`${provider.url}/api`], auth } },
      provider_errors: 'passthrough',
      breaker: { failures: 1, open_ms: 60_000 },
      retry: { attempts: 2 },
      forward_headers: ['x-acme-date'],
    });
  const good = { signer: 'acme-hmac', config: { key: 'env:SIGNING' } };

  const folder = createFolder();
  const provider = use(() => {
    const manifest = { kinds: undefined, signers: SIGNERS };
    writePlugin(join(folder, 'plugins'), { name: 'acme', manifest, entry: ENTRY });
    let failures = 0;
    return startProvider((request, response) => {
      if (request.url?.endsWith('?retry') && failures++ === 0) return request.socket.destroy();
      const status = request.method === 'DELETE' ? 409 : 200;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: `got ${request.headers.authorization} by ${SECRET}` }));
      return undefined;
    });
  });
  const host = use(() =>
    startHostProcess({
      env: { SIGNING: SECRET },
      args: ['--plugins', join(folder, 'plugins')],
      files: {
        'crm.json': describeSigned('crm', good),
        'closed.json': describeSigned('closed', { ...good, signer: 'acme-closed' }),
        'busy.json': describeSigned('busy', { ...good, signer: 'acme-busy' }),
        'late.json': describeSigned('late', { signer: 'acme-late' }),
        ...Object.fromEntries(
          MODES.map((mode) => [
            `${mode}.json`,
            describeSigned(mode, { ...good, config: { ...good.config, mode } }),
          ]),
        ),
      },
    }),
  );

  after(async () => {
    expect(host.output()).to.include('acme-hmac closed').and.to.not.include(SECRET);
    expect(host.output()).to.include('signer failed');
  });

  const send = (
    module: string,
    method: string,
    overrides: Partial<Parameters<typeof call>[1]> = {},
    query = '',
  ) =>
    call(host, { method, target: `/modules/${module}/http/items${query}`, as: AS, ...overrides });
  const readText = async (target: string) => (await call(host, { target, as: AS })).body.toString();
  const signatureOf = (method: string, target: string, type: string, body: string) => {
    const sha256 = createHash('sha256').update(body).digest('hex');
    const text = [method, `${provider.url}/api${target}`, type, sha256].join(' ');
    return `ACME ${createHmac('sha256', SECRET).update(text).digest('hex')}`;
  };

  it('signs the request as it is sent, and replaces headers of the caller', async () => {
    const headers: [string, string][] = [['x-acme-date', 'of the caller']];
    expect((await send('crm', 'GET', { headers }, '?a=%20b')).status).to.equal(200);
    const got = provider.requests.at(-1)?.headers;
    expect(got?.authorization).to.equal(signatureOf('GET', '/items?a=%20b', '-', ''));
    expect(got?.['x-acme-date']).to.equal('20260101');
  });

  it('signs the digest of the body', async () => {
    const body = '{"a": 1}';
    const type = 'application/json';
    const response = await send('crm', 'POST', {
      body: Buffer.from(body),
      headers: [['content-type', type]],
    });
    expect(response.status).to.equal(200);
    const { authorization } = provider.requests.at(-1)?.headers ?? {};
    expect(authorization).to.equal(signatureOf('POST', '/items', type, body));
  });

  it('signs each attempt', async () => {
    const before = provider.requests.length;
    expect((await send('crm', 'GET', {}, '?retry')).status).to.equal(200);
    const attempts = provider.requests.slice(before);
    const expected = signatureOf('GET', '/items?retry', '-', '');
    expect(attempts.map(({ headers }) => headers.authorization)).to.deep.equal([
      expected,
      expected,
    ]);
  });

  it('masks a signature and a secret that the provider repeats', async () => {
    const problem = await send('crm', 'DELETE');
    expectProblem(problem, 409, 'provider_error');
    expect(parseJson(problem).detail).to.equal('got [redacted] by [redacted]');
  });

  const DETAILS: Readonly<Record<string, string>> = {
    throw: 'it threw TypeError',
    hang: 'no signature within 1000 ms',
    list: "'sign' must return an object of headers",
    host: "it must not set the header 'host'",
    framing: "it must not set the header 'transfer-encoding'",
    actor: "it must not set the header 'modgate-actor'",
    trace: "it must not set the header 'traceparent'",
    lines: "the header 'x-a' must be one line of printable ASCII",
  };
  for (const mode of MODES) {
    it(`is unavailable where it fails, and no breaker counts it: ${mode}`, async () => {
      const before = provider.requests.length;
      const failed = await send(mode, 'GET');
      expectProblem(failed, 502);
      const id = headerValue(failed.headers, 'x-request-id');
      const [record] = JSON.parse(await readText(`/calls?request_id=${id}`)).calls;
      const failure_detail = `signer acme-hmac: ${DETAILS[mode]}`;
      expect(record).to.include({ failure: 'unavailable', failure_detail, attempts: 1 });
      const { modules } = JSON.parse(await readText('/modules'));
      const module = modules.find(({ name }: { name: string }) => name === mode);
      expect(module.endpoints[0]).to.include({ state: 'up', failures: 0 });
      expect(provider.requests).to.have.length(before);
    });
  }

  const UNOPENED = { closed: 'no license for [redacted]', late: 'it did not open within 5000 ms' };
  for (const [name, problem] of Object.entries(UNOPENED)) {
    it(`is rejected with the name and the reason of a signer that does not open: ${name}`, async () => {
      const { modules } = JSON.parse(await readText('/modules'));
      const module = modules.find((entry: { name: string }) => entry.name === name);
      const reason = `signer 'acme-${name}' cannot be used: ${problem}`;
      expect(module).to.include({ state: 'refused', reason });
    });
  }

  it('is opened again after a lack of resources', async () => {
    await waitUntil('the module', async () => (await send('busy', 'GET')).status === 200);
  });

  it('is shown with its plugin', async () => {
    const { plugins } = JSON.parse(await readText('/plugins'));
    const acme = plugins.find(({ name }: { name: string }) => name === 'acme');
    expect(acme).to.deep.include({ state: 'loaded', signers: SIGNERS });
  });

  it('is validated by modgate check', async () => {
    const place = createWorkplace();
    const check = async (auth: object) => {
      const file = place.write('crm.json', describeSigned('crm', auth));
      const args = [file, '--plugins', join(folder, 'plugins'), '--allow-missing-secrets'];
      const { findings } = await checkJsonIn(place, ...args);
      return findings.map((line) => [line['message'], line['hint']]);
    };
    expect(await check(good)).to.deep.equal([]);
    expect(await check({ ...good, signer: 'acme-hmca' })).to.deep.equal([
      [
        "'provider.config.auth.signer' must be one of acme-busy, acme-closed, acme-hmac, acme-late",
        "did you mean 'acme-hmac'?",
      ],
    ]);
    expect(await check({ ...good, config: { ...good.config, kez: 1 } })).to.deep.equal([
      ["unknown key 'kez' in 'provider.config.auth.config'", "did you mean 'key'?"],
    ]);
    expect(await check({ signer: 'acme-hmac' })).to.deep.equal([
      ["missing key 'key' in 'provider.config.auth.config'", null],
    ]);
    expect(await check({ bearer: 'env:T', config: {} })).to.deep.equal([
      [
        "'provider.config.auth' must be exactly one of bearer, basic, header, oauth2, exchange and signer, with config only beside signer",
        null,
      ],
    ]);
  });
});
