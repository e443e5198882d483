import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../../../support/http/call.js';
import { readCorpus } from '../../../support/http/corpus.js';
import { expectProblem, reasonOf } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { type Files, useHost } from '../../../support/http/use-host.js';

interface DetailVector {
  readonly title: string;
  readonly contentType?: string;
  readonly body: string;
  readonly detail?: string;
}

const PASSED = [400, 404, 409, 410, 412, 422, 429];
const NOT_PASSED = [401, 402, 403, 405, 406, 408, 411, 413, 415, 418, 423, 451, 500, 502, 503];
const MOST_CHARACTERS = 1_000;
const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const TARGET = '/modules/through/http/items';

const SECRET = 'secret-of-the-provider';

/** Error bodies of the usual frameworks. */
const ERROR_BODIES: readonly {
  readonly shape: string;
  readonly body: object;
  readonly detail?: string;
  readonly errors: readonly (readonly [field: string | null, reason: string])[];
}[] = [
  {
    shape: 'an object from fields to texts below error',
    body: { error: { message: 'invalid', fields: { name: 'is missing', tags: ['a', 'b', 1] } } },
    detail: 'invalid',
    errors: [
      ['name', 'is missing'],
      ['tags', 'a'],
      ['tags', 'b'],
    ],
  },
  {
    shape: 'a list as the detail (FastAPI)',
    body: { detail: [{ loc: ['body', 'items', 0], msg: 'field required', type: 'x' }], title: 't' },
    detail: 't',
    errors: [['body.items.0', 'field required']],
  },
  {
    shape: 'violations with paths (Symfony, Google)',
    body: {
      violations: [
        { path: ['a', 'b'], message: 'm' },
        { name: 'n', reason: 'r' },
        { message: 'x' },
      ],
    },
    errors: [
      ['a.b', 'm'],
      ['n', 'r'],
      [null, 'x'],
    ],
  },
  {
    shape: 'errors by field (Rails, Laravel)',
    body: { message: 'no', errors: { email: ['taken', 'short'], __proto__x: 'y' } },
    detail: 'no',
    errors: [
      ['email', 'taken'],
      ['email', 'short'],
      ['__proto__x', 'y'],
    ],
  },
  {
    shape: 'invalid-params (RFC 7807) and details',
    body: {
      title: 'bad',
      'invalid-params': [{ name: 'age', reason: 'too low' }],
      details: [
        { param: 'p', detail: 'd' },
        { pointer: '/a', msg: 'q' },
      ],
    },
    detail: 'bad',
    errors: [
      ['p', 'd'],
      ['/a', 'q'],
      ['age', 'too low'],
    ],
  },
  {
    shape: 'an error that is an object, and entries of other forms',
    body: {
      error: { title: 'nested', errors: ['text', 7, null, [], {}, { field: 'a' }, { x: 1 }] },
    },
    detail: 'nested',
    errors: [],
  },
  {
    shape: 'an empty detail beside another member',
    body: { detail: '  ', message: {}, error: { detail: 'last' } },
    detail: 'last',
    errors: [],
  },
];

describe('provider_errors: passthrough', () => {
  const files: Files = (provider) => ({
    'through.json': describeModule('through', provider.url, ROUTES, {
      provider: {
        kind: 'http',
        config: { endpoints: [provider.url], auth: { bearer: 'env:CRM_SECRET' } },
      },
      provider_errors: 'passthrough',
    }),
    'plain.json': describeModule('plain', provider.url, ROUTES, { provider_errors: 'problem' }),
  });
  const setup = useHost(files, { env: { CRM_SECRET: SECRET } });
  const get = (target = TARGET) => call(setup.host, { target });

  for (const status of PASSED) {
    it(`forwards a provider's ${status}`, async () => {
      setup.provider.answer({ status, body: `{"detail":"it is ${status}"}` });
      const problem = expectProblem(await get(), status, 'provider_error');
      expect(problem.detail).to.equal(`it is ${status}`);
      expect(setup.provider.requests).to.have.length(1);
    });
  }

  for (const status of NOT_PASSED) {
    it(`answers 502 to a provider's ${status}`, async () => {
      // A valid response in between keeps the circuit breaker closed.
      expect((await get()).status).to.equal(200);
      setup.provider.answer({ status, headers: [JSON_TYPE, ['retry-after', '7']], body: '{}' });
      const response = await get();
      const problem = expectProblem(response, 502);
      expect(reasonOf(problem, 'failure')).to.equal('status');
      expect(reasonOf(problem, 'provider_status')).to.equal(`${status}`);
      const retryAfter = status === 503 ? '7' : undefined;
      expect(headerValue(response.headers, 'retry-after')).to.equal(retryAfter);
    });
  }

  it('answers 502 to a redirect', async () => {
    setup.provider.answer({ status: 302, headers: [['location', '/b']], body: null });
    expect(reasonOf(expectProblem(await get(), 502), 'failure')).to.equal('protocol');
  });

  it('answers 502 to each of these statuses with the option problem', async () => {
    for (const status of PASSED) {
      setup.provider.answer({ status, headers: [['retry-after', '7']], body: '{"detail":"x"}' });
      const response = await get('/modules/plain/http/items');
      expect(reasonOf(expectProblem(response, 502), 'provider_status')).to.equal(`${status}`);
      const retryAfter = status === 429 ? '7' : undefined;
      expect(headerValue(response.headers, 'retry-after')).to.equal(retryAfter);
    }
  });

  for (const vector of readCorpus<DetailVector[]>('passthrough-details')) {
    it(`uses the detail from ${vector.title}`, async () => {
      const headers: RawHeader[] = [['content-type', vector.contentType ?? 'application/json']];
      setup.provider.answer({ status: 409, headers, body: vector.body });
      const problem = expectProblem(await get(), 409, 'provider_error');
      expect(problem.detail).to.equal(vector.detail);
    });
  }

  for (const vector of readCorpus<DetailVector[]>('passthrough-generic')) {
    it(`uses its own detail for ${vector.title}`, async () => {
      const headers: RawHeader[] = [['content-type', vector.contentType ?? 'application/json']];
      setup.provider.answer({ status: 422, headers, body: vector.body });
      const problem = expectProblem(await get(), 422, 'provider_error');
      expect(JSON.stringify(problem)).not.to.include('secret');
    });
  }

  it('uses its own detail for an error body of more than 20,000 values or 1 MiB', async () => {
    const list = (count: number) => `{"detail":"own","a":[${Array(count).fill(0)}]}`;
    const pad = (bytes: number) => '{"detail":"own"}'.padEnd(bytes);
    for (const [body, isRead] of [
      // Beside the items are the object, the detail and the list.
      [list(19_997), true],
      [list(19_998), false],
      [pad(1_048_576), true],
      [pad(1_048_577), false],
    ] as const) {
      setup.provider.answer({ status: 422, body });
      const { detail } = expectProblem(await get(), 422, 'provider_error');
      expect(detail === 'own', detail).to.equal(isRead);
    }
  });

  it('keeps the first 1,000 characters of a long detail', async () => {
    setup.provider.answer({ status: 400, body: JSON.stringify({ detail: 'x'.repeat(5_000) }) });
    const { detail } = expectProblem(await get(), 400, 'provider_error');
    expect(detail.length).to.be.within(MOST_CHARACTERS - 1, MOST_CHARACTERS);
  });

  it('keeps a detail of 1,000 characters unchanged', async () => {
    const detail = 'x'.repeat(MOST_CHARACTERS);
    setup.provider.answer({ status: 400, body: JSON.stringify({ detail }) });
    expect(expectProblem(await get(), 400, 'provider_error').detail).to.equal(detail);
  });

  it('never splits a character', async () => {
    for (const lead of [MOST_CHARACTERS - 1, MOST_CHARACTERS - 2]) {
      const detail = `${'x'.repeat(lead)}😀😀`;
      setup.provider.answer({ status: 400, body: JSON.stringify({ detail }) });
      const got = expectProblem(await get(), 400, 'provider_error').detail;
      expect(got.isWellFormed()).to.equal(true);
      expect([...got].length).to.be.at.most(MOST_CHARACTERS);
    }
  });

  it('forwards no control character', async () => {
    const detail = 'a\u0000b\u0007c\r\nd\u001b[31me\u007ff\u0085g\u009fh\ti';
    setup.provider.answer({ status: 400, body: JSON.stringify({ detail }) });
    const got = expectProblem(await get(), 400, 'provider_error').detail;
    expect(got).not.to.match(/\p{Cc}/u);
    for (const letter of 'abcdefghi') expect(got).to.include(letter);
  });

  it('uses its own detail for one that has only control characters', async () => {
    setup.provider.answer({ status: 400, body: '{"detail":"\\u0000\\u0001"}' });
    expectProblem(await get(), 400, 'provider_error');
  });

  for (const value of ['0', '7', '120', 'Wed, 21 Oct 2026 07:28:00 GMT']) {
    it(`forwards the retry-after ${value}`, async () => {
      for (const status of [429, 409]) {
        setup.provider.answer({ status, headers: [JSON_TYPE, ['retry-after', value]] });
        expect(headerValue((await get()).headers, 'retry-after')).to.equal(value);
      }
    });
  }

  for (const value of ['Wednesday, 21-Oct-26 07:28:00 GMT', 'Wed Oct 21 07:28:00 2026']) {
    it(`forwards the retry-after ${value} in the form of today`, async () => {
      setup.provider.answer({ status: 429, headers: [JSON_TYPE, ['retry-after', value]] });
      const retryAfter = headerValue((await get()).headers, 'retry-after');
      expect(retryAfter).to.equal('Wed, 21 Oct 2026 07:28:00 GMT');
    });
  }

  for (const value of ['', 'soon', '-1', '1.5', '+7', '1e3', '0x10', '7, 8', '7 s', 'Wed', '<b>']) {
    it(`drops the retry-after ${JSON.stringify(value)}`, async () => {
      setup.provider.answer({ status: 429, headers: [JSON_TYPE, ['retry-after', value]] });
      const response = await get();
      expect(response.status).to.equal(429);
      expect(headerValue(response.headers, 'retry-after')).to.equal(undefined);
    });
  }

  it('forwards no other header', async () => {
    setup.provider.answer({
      status: 404,
      headers: [JSON_TYPE, ['set-cookie', 'a=evil'], ['etag', '"evil"'], ['x-request-id', 'evil']],
    });
    const response = await get();
    expectProblem(response, 404, 'provider_error');
    expect(JSON.stringify(response.headers)).not.to.include('evil');
  });

  it('returns the status to HEAD, without a body', async () => {
    setup.provider.answer({ status: 404, body: '{"detail":"x"}' });
    const response = await call(setup.host, { method: 'HEAD', target: TARGET });
    expect(response.status).to.equal(404);
    expect(setup.provider.only().method).to.equal('GET');
  });

  for (const { shape, body, detail, errors } of ERROR_BODIES) {
    it(`forwards the texts of ${shape}`, async () => {
      setup.provider.answer({ status: 422, body: JSON.stringify(body) });
      const problem = expectProblem(await get(), 422, 'provider_error');
      expect(problem.detail).to.equal(detail ?? 'the provider responded with 422');
      const ownCount = problem.errors.findIndex(({ field }) => field === 'provider_status') + 1;
      expect(ownCount).to.be.above(0);
      expect(problem.errors.slice(ownCount)).to.deep.equal(
        errors.map(([field, reason]) => ({ field, reason })),
      );
    });
  }

  it('forwards 100 entries of many, with texts that are shortened and clean', async () => {
    const long = { field: `f${'😀'.repeat(300)}`, message: `m\u0007${'😀'.repeat(2_000)}` };
    setup.provider.answer({
      status: 400,
      body: JSON.stringify({ errors: Array.from({ length: 110 }, () => long) }),
    });
    const { errors } = expectProblem(await get(), 400, 'provider_error');
    const sent = errors.filter(({ field }) => field?.startsWith('f😀'));
    expect(sent).to.have.length(100);
    expect(sent[0]).to.deep.equal({
      field: `f${'😀'.repeat(199)}`,
      reason: `m ${'😀'.repeat(998)}`,
    });
  });

  it('masks the credentials of the provider, as they are and in Basic', async () => {
    const basic = Buffer.from(`acme:${SECRET}`).toString('base64');
    setup.provider.answer({
      status: 400,
      body: JSON.stringify({
        error: { message: `no access with ${SECRET}.` },
        errors: [{ field: SECRET, message: `Basic ${basic} is wrong` }],
      }),
    });
    const response = await get();
    const problem = expectProblem(response, 400, 'provider_error');
    expect(problem.detail).to.equal('no access with [redacted].');
    expect(problem.errors.at(-1)).to.deep.equal({
      field: '[redacted]',
      reason: 'Basic [redacted] is wrong',
    });
    expect(response.body.toString()).not.to.include(SECRET);
  });
});
