import { expect } from 'chai';
import { headerValues, type RawHeader } from '../../../../core/selftest/raw-http.js';
import type { Answer } from '../../../support/echo-provider.js';
import { call, JSON_TYPE, parseJson } from '../../../support/http/call.js';
import { readCorpus, toBytes } from '../../../support/http/corpus.js';
import { expectProblem, reasonOf } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';

interface DataVector {
  readonly title: string;
  readonly data?: string;
  readonly parts?: readonly (readonly [text: string, times: number])[];
}

interface RejectedVector {
  readonly title: string;
  /** Default `crm`. */
  readonly module?: string;
  readonly answer: Answer;
  /** `null` if any is allowed. */
  readonly failure: string | null;
  readonly providerStatus: string | null;
}

const FIELDS = [
  'status',
  'module_name',
  'method',
  'declared_path',
  'provider_path',
  'capability',
  'path_params',
  'data',
];
const QUICK_MS = 400;
const SMALL_BYTES = 64;
const ROUTES = [
  { method: 'GET', path: '/plain', capability: 'crm.read' },
  { method: 'GET', path: '/items/{id}', capability: 'crm.read' },
  { method: 'POST', path: '/items/{id}', capability: 'crm.write' },
];
const TARGET = '/modules/crm/http/items/a%20b?x=1';
const UNUSED = 'http://127.0.0.1:9';

describe('forwarded response', () => {
  const setup = useHost((provider) => ({
    'crm.json': describeModule('crm', provider.url, ROUTES),
    'quick.json': describeModule('quick', provider.url, ROUTES, {
      limits: { timeout_ms: QUICK_MS },
    }),
    'small.json': describeModule('small', provider.url, ROUTES, {
      limits: { response_bytes: SMALL_BYTES },
    }),
    'down.json': describeModule('down', UNUSED, ROUTES),
    'unknown.json': describeModule('unknown', 'http://modgate-test.invalid', ROUTES),
  }));
  const get = (module = 'crm') =>
    call(setup.host, { target: TARGET.replace('/crm/', `/${module}/`) });

  it('has exactly the eight fields', async () => {
    const response = await get();
    expect(response.status).to.equal(200);
    expect(headerValues(response.headers, 'content-type').join()).to.match(
      /^application\/json(?:; *charset=utf-8)?$/,
    );
    const body = parseJson(response);
    expect(body).to.have.all.keys(FIELDS);
    expect(body).to.deep.equal({
      status: 'forwarded',
      module_name: 'crm',
      method: 'GET',
      declared_path: '/items/{id}',
      provider_path: '/items/a b',
      capability: 'crm.read',
      path_params: { id: 'a b' },
      data: { ok: true },
    });
  });

  it('has empty path_params for a template without parameters', async () => {
    const response = await call(setup.host, { target: '/modules/crm/http/plain' });
    expect(parseJson(response)['path_params']).to.deep.equal({});
  });

  it('is JSON whatever the client accepts', async () => {
    for (const accept of ['application/problem+json', 'text/html']) {
      const response = await call(setup.host, { target: TARGET, headers: [['accept', accept]] });
      expect(response.status).to.equal(200);
      expect(headerValues(response.headers, 'content-type').join()).to.match(/^application\/json/);
    }
  });

  for (const { title, data, parts } of readCorpus<DataVector[]>('provider-data')) {
    it(`has ${title} byte for byte`, async () => {
      const bytes = toBytes(data ?? { parts: parts ?? [] });
      setup.provider.answer({ body: bytes });
      const response = await get();
      expect(response.status).to.equal(200);
      expect(readData(response.body).subarray(0, bytes.length).equals(bytes)).to.equal(true);
      expect(Object.keys(parseJson(response))).to.have.members(FIELDS);
    });
  }

  it('keeps the value of data in white space', async () => {
    setup.provider.answer({ body: ' \r\n{"a": 1.10}\n\t' });
    const response = await get();
    expect(response.body.toString()).to.include('{"a": 1.10}');
    expect(parseJson(response)['data']).to.deep.equal({ a: 1.1 });
  });

  for (const status of [200, 201, 202, 203, 206, 207, 299]) {
    it(`is 200 for a provider's ${status}`, async () => {
      setup.provider.answer({ status });
      const response = await get();
      expect(response.status).to.equal(200);
      expect(parseJson(response)['data']).to.deep.equal({ ok: true });
    });
  }

  for (const [title, answer] of [
    ['204', { status: 204, headers: [], body: null }],
    ['205 without a body', { status: 205, headers: [], body: null }],
    ['200 without a body', { status: 200, headers: [], body: null }],
    ['201 of JSON without a body', { status: 201, body: null }],
    ['200 of a page without a body', { headers: [['content-type', 'text/html']], body: null }],
    ['200 of no chunks', { raw: [chunkedHead('application/json'), '0\r\n\r\n'] }],
    ['200 until the close, without a byte', { raw: ['HTTP/1.1 200 OK\r\n\r\n'] }],
  ] as const) {
    it(`has data: null for ${title}`, async () => {
      setup.provider.answer(answer);
      const response = await get();
      expect(response.status, response.body.toString()).to.equal(200);
      expect(readData(response.body).toString()).to.match(/^null\s*[,}]/);
    });
  }

  for (const type of [
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/problem+json',
    'application/vnd.api+json; x="a;b"',
    'application/json; charset=latin1',
  ]) {
    it(`accepts the content-type ${type}`, async () => {
      setup.provider.answer({ headers: [['content-type', type]], body: '"café"' });
      const response = await get();
      expect(response.status).to.equal(200);
      expect(parseJson(response)['data']).to.equal('café');
    });
  }

  it('accepts a chunked body with trailers and split characters', async () => {
    setup.provider.answer({
      raw: [
        chunkedHead('application/json'),
        '2\r\n"\u00c3\r\n',
        10,
        '2\r\n\u00a9"\r\n0\r\nx-t: 1\r\n\r\n',
      ],
    });
    expect(parseJson(await get())['data']).to.equal('é');
  });

  for (const status of ['200 OK', '299 Fine']) {
    it(`is 502 for a ${status} whose connection ends within its body`, async () => {
      const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n`;
      for (const framing of ['', 'transfer-encoding: identity\r\n']) {
        setup.provider.answer({ raw: [`${head}${framing}\r\n`, 10, '[1,2'] });
        const problem = expectProblem(await get(), 502);
        expect(reasonOf(problem, 'failure')).to.equal('protocol');
      }
    });
  }

  it('is 502 for a body without a length that is reset, complete or not', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n';
    for (const body of ['[1,2]', '1', '']) {
      setup.provider.answer({ raw: [head, 10, body, 10], finally: 'reset' });
      const problem = expectProblem(await get(), 502);
      expect(reasonOf(problem, 'failure')).to.equal('protocol');
    }
  });

  it('skips interim responses', async () => {
    setup.provider.answer({
      raw: [
        'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n',
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
      ],
    });
    expect((await get()).status).to.equal(200);
  });

  it('accepts exactly response_bytes', async () => {
    setup.provider.answer({ body: `"${'x'.repeat(SMALL_BYTES - 2)}"` });
    expect((await get('small')).status).to.equal(200);
  });

  it('has no header of the provider', async () => {
    setup.provider.answer({ headers: PROVIDER_HEADERS });
    expectNoneOf(PROVIDER_HEADERS, (await get()).headers);
  });

  it('has no header of a failed provider', async () => {
    setup.provider.answer({ status: 500, headers: PROVIDER_HEADERS });
    expectNoneOf(PROVIDER_HEADERS, (await get()).headers);
  });

  for (const vector of readCorpus<RejectedVector[]>('provider-answers-refused')) {
    it(`is 502 for ${vector.title}`, async () => {
      // A valid response in between keeps the circuit breaker closed.
      const module = vector.module ?? 'crm';
      expect((await get(module)).status, 'a good answer before').to.equal(200);
      setup.provider.reset();
      setup.provider.answer(vector.answer);
      const problem = expectProblem(await get(module), 502);
      const reasons = Object.fromEntries(
        problem.errors.map(({ field, reason }) => [field, reason]),
      );
      expect(reasons).to.include({
        module,
        method: 'GET',
        declared_path: '/items/{id}',
        provider_path: '/items/a b',
      });
      if (vector.failure !== null) expect(reasons['failure']).to.equal(vector.failure);
      expect(reasons['provider_status']).to.equal(vector.providerStatus ?? undefined);
      expect(JSON.stringify(problem)).not.to.match(/secret/);
      const targets = new Set(setup.provider.requests.map(({ target }) => target));
      expect([...targets], 'nothing but the call itself').to.deep.equal(['/items/a%20b?x=1']);
      if (vector.failure !== 'unavailable') expect(setup.provider.requests).to.have.length(1);
    });
  }

  it('is 502 within the timeout for a provider that sends slowly', async () => {
    const drip = Array.from({ length: 3_000 }, () => [20, ' ']).flat();
    setup.provider.answer({ raw: [chunkless(10_000), ...drip], finally: 'hang' });
    const begun = performance.now();
    expect(reasonOf(expectProblem(await get('quick'), 502), 'failure')).to.equal('timeout');
    // Half of what the provider sends for.
    expect(performance.now() - begun).to.be.within(QUICK_MS / 2, 30_000);
  });

  it('is 502 for one byte more than the default of response_bytes', async () => {
    setup.provider.answer({ body: `"${'x'.repeat(4_194_303)}"` });
    expect(reasonOf(expectProblem(await get(), 502), 'failure')).to.equal('protocol');
  });

  for (const module of ['down', 'unknown']) {
    it(`is 502 unavailable without a connection (${module})`, async () => {
      const problem = expectProblem(await get(module), 502);
      expect(reasonOf(problem, 'module')).to.equal(module);
      expect(reasonOf(problem, 'failure')).to.equal('unavailable');
      expect(reasonOf(problem, 'provider_status')).to.equal(undefined);
      expect(JSON.stringify(problem)).not.to.match(/:9\b|modgate-test/);
    });
  }

  it('names the forwarded method in errors', async () => {
    setup.provider.answer({ status: 500 });
    const response = await call(setup.host, {
      method: 'POST',
      target: '/modules/crm/http/items/1',
      headers: [JSON_TYPE],
      body: Buffer.from('{}'),
    });
    const problem = expectProblem(response, 502);
    expect(reasonOf(problem, 'method')).to.equal('POST');
    expect(setup.provider.requests, 'a status is an answer').to.have.length(1);
  });

  it('is 200 again after all failures', async () => {
    for (const module of ['crm', 'quick', 'small']) {
      expect((await get(module)).status, module).to.equal(200);
    }
  });
});

const PROVIDER_HEADERS: readonly RawHeader[] = [
  ['content-type', 'application/json'],
  ['access-control-allow-origin', 'https://evil.example'],
  ['age', '12'],
  ['allow', 'GET'],
  ['cache-control', 'public, max-age=99999'],
  ['content-language', 'xx'],
  ['content-location', '/evil'],
  ['date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['etag', '"evil"'],
  ['link', '</evil>; rel=preload'],
  ['location', '/evil'],
  ['modgate-actor', 'system:evil'],
  ['retry-after', '77777'],
  ['server', 'evil/1'],
  ['set-cookie', 'a=evil'],
  ['strict-transport-security', 'max-age=77777'],
  ['vary', 'x-evil'],
  ['via', '1.1 evil'],
  ['www-authenticate', 'Basic realm=evil'],
  ['x-correlation-id', 'evil'],
  ['x-powered-by', 'evil'],
  ['x-request-id', 'evil'],
];

function expectNoneOf(sent: readonly RawHeader[], received: readonly RawHeader[]): void {
  const leaked = sent
    .filter(([name]) => name !== 'content-type')
    .filter(([name, value]) => headerValues(received, name).includes(value));
  expect(leaked).to.deep.equal([]);
  expect(JSON.stringify(received)).not.to.match(/evil/);
}

/** The text after the first `"data":`. A `"data":` inside another value has escaped quotes. */
function readData(body: Buffer): Buffer {
  const key = '"data":';
  const at = body.indexOf(key);
  expect(at, 'data').to.be.greaterThan(0);
  return body.subarray(at + key.length);
}

function chunkedHead(type: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`;
}

function chunkless(length: number): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
}
