import { expect } from 'chai';
import {
  headerValue,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../../support/http/call.js';
import { expectProblem, TITLES } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { waitUntil } from '../../support/http/wait-until.js';

const PROBLEM_JSON = 'application/problem+json';
const MADE_REQUEST_ID = /^req_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MADE_CORRELATION_ID = /^corr_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TARGET = '/modules/crm/http/items';
const KEPT_IDS = [
  'a',
  '0',
  'r-1',
  'A.b_c:d-e',
  '...',
  ':',
  'req_018f4e5c-0000-7000-8000-000000000000',
  'x'.repeat(128),
];
const REPLACED_IDS = [
  '',
  ' ',
  'x'.repeat(129),
  'a b',
  'a,b',
  'a/b',
  'a;b',
  'a"b',
  'a%20b',
  'a@b',
  'caf\u00e9',
  '<script>',
  '{}',
];

describe('problems', () => {
  const setup = useHost((provider) => ({
    'crm.json': describeModule('crm', provider.url, [
      { method: 'GET', path: '/items', capability: 'crm.read' },
      { method: 'POST', path: '/items', capability: 'crm.write' },
    ]),
  }));

  /** One response of each kind that the host creates, with its status. */
  const provoke: readonly (readonly [number, () => Promise<ReceivedResponse>])[] = [
    [200, () => call(setup.host, { target: TARGET })],
    [200, () => call(setup.host, { target: '/livez', as: null })],
    [401, () => call(setup.host, { target: TARGET, as: null })],
    [403, () => call(setup.host, { target: TARGET, as: 'dev-service:probe' })],
    [404, () => call(setup.host, { target: '/nothing' })],
    [404, () => call(setup.host, { target: `${TARGET}/` })],
    [405, () => call(setup.host, { method: 'POST', target: '/livez' })],
    [
      400,
      () =>
        call(setup.host, {
          method: 'POST',
          target: TARGET,
          headers: [JSON_TYPE],
          body: Buffer.from('{'),
        }),
    ],
    [417, () => call(setup.host, { target: '/livez', headers: [['expect', 'x']] })],
    [431, () => call(setup.host, { target: '/livez', headers: [['x-a', 'x'.repeat(100_000)]] })],
  ];

  for (const [status, send] of provoke) {
    it(`carry both ids (${status})`, async () => {
      const { status: actual, headers } = await send();
      expect(actual).to.equal(status);
      expect(headerValue(headers, 'x-request-id')).to.match(MADE_REQUEST_ID);
      expect(headerValue(headers, 'x-correlation-id')).to.match(MADE_CORRELATION_ID);
      expect(headerValue(headers, 'content-length') ?? 'chunked').to.be.a('string');
    });
  }

  const sendIds = (value: string, target = TARGET) => {
    const headers: RawHeader[] = [
      ['x-request-id', value],
      ['X-Correlation-Id', value],
    ];
    return call(setup.host, { target, as: null, headers });
  };

  for (const id of KEPT_IDS) {
    it(`keep the id ${JSON.stringify(id)}`, async () => {
      const problem = expectProblem(await sendIds(id), 401);
      expect(problem.request_id).to.equal(id);
      expect(problem.correlation_id).to.equal(id);
    });
  }

  for (const id of REPLACED_IDS) {
    it(`replace the id ${JSON.stringify(id)}`, async () => {
      const problem = expectProblem(await sendIds(id), 401);
      expect(problem.request_id).to.match(MADE_REQUEST_ID);
      expect(problem.correlation_id).to.match(MADE_CORRELATION_ID);
      expect(problem.correlation_id?.slice('corr_'.length)).to.equal(
        problem.request_id?.slice('req_'.length),
      );
    });
  }

  it('keep a valid id beside a malformed one', async () => {
    const headers: RawHeader[] = [
      ['x-request-id', 'a b'],
      ['x-correlation-id', 'mine'],
    ];
    const problem = expectProblem(await call(setup.host, { target: '/x', headers }), 404);
    expect(problem.request_id).to.match(MADE_REQUEST_ID);
    expect(problem.correlation_id).to.equal('mine');
  });

  it('replace a repeated id', async () => {
    const headers: RawHeader[] = [
      ['x-request-id', 'a'],
      ['x-request-id', 'b'],
    ];
    const problem = expectProblem(await call(setup.host, { target: '/x', headers }), 404);
    expect(problem.request_id).to.match(MADE_REQUEST_ID);
  });

  it('have the ids of the log line', async () => {
    const problem = expectProblem(await sendIds('log-me'), 401);
    const find = () =>
      setup.host
        .logs()
        .find((line) => line['msg'] === 'request' && line['request_id'] === problem.request_id);
    await waitUntil('the log line of the request', () => find() !== undefined);
    expect(find()).to.include({ correlation_id: 'log-me', status: 401 });
  });

  it('leave no credential and no query in the log', async () => {
    const as = 'dev-service:secret-caller:secret-scope';
    const target = `${TARGET}/secret%20segment?secret-query=1`;
    const headers: RawHeader[] = [
      ['cookie', 'secret-cookie'],
      ['x-request-id', 'no-secrets'],
    ];
    expectProblem(await call(setup.host, { target, as, headers }), 404);
    await waitUntil('the log line of the request', () =>
      setup.host.logs().some((line) => line['request_id'] === 'no-secrets'),
    );
    const line = setup.host.logs().find(({ request_id }) => request_id === 'no-secrets');
    expect(line).to.include({ path_named: `${TARGET}/secret%20segment`, route: null });
    const output = setup.host.output();
    for (const secret of ['secret-scope', 'secret-query', 'secret-cookie']) {
      expect(output).not.to.include(secret);
    }
  });

  for (const accept of [
    PROBLEM_JSON,
    'Application/Problem+JSON',
    `${PROBLEM_JSON}, application/json`,
    `application/json;q=0.5, ${PROBLEM_JSON}`,
    `text/html, ${PROBLEM_JSON};q=0.9`,
    `${PROBLEM_JSON}; charset=utf-8`,
  ]) {
    it(`are ${PROBLEM_JSON} for accept: ${accept}`, async () => {
      const response = await call(setup.host, {
        target: TARGET,
        as: null,
        headers: [['accept', accept]],
      });
      expectProblem(response, 401);
      expect(headerValue(response.headers, 'content-type')).to.match(/^application\/problem\+json/);
    });
  }

  for (const accept of [
    null,
    '',
    '*/*',
    'application/*',
    'application/json',
    'text/html',
    'text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8',
    `${PROBLEM_JSON};q=0`,
    `${PROBLEM_JSON}x`,
    `x${PROBLEM_JSON}`,
    ',;;=,',
  ]) {
    it(`are application/json for accept: ${accept}`, async () => {
      const headers: RawHeader[] = accept === null ? [] : [['accept', accept]];
      const response = await call(setup.host, { target: TARGET, as: null, headers });
      expectProblem(response, 401);
      expect(headerValue(response.headers, 'content-type')).to.match(/^application\/json/);
    });
  }

  it(`are ${PROBLEM_JSON} also on host routes`, async () => {
    for (const [method, target, status] of [
      ['GET', '/nothing', 404],
      ['POST', '/livez', 405],
      ['GET', '/problems/nothing', 404],
    ] as const) {
      const headers: RawHeader[] = [['accept', PROBLEM_JSON]];
      const response = await call(setup.host, { method, target, headers });
      expectProblem(response, status);
      expect(headerValue(response.headers, 'content-type')).to.match(/^application\/problem/);
    }
  });

  for (const [code, title] of Object.entries(TITLES)) {
    it(`have a page for ${code}`, async () => {
      const response = await call(setup.host, { target: `/problems/${code}`, as: null });
      expect(response.status).to.equal(200);
      expect(response.body.toString()).to.include(title);
    });
  }

  for (const code of [
    'nothing',
    '__proto__',
    'constructor',
    'toString',
    '',
    'NOT_FOUND',
    'not_found/',
  ]) {
    it(`have no page for ${JSON.stringify(code)}`, async () => {
      expectProblem(await call(setup.host, { target: `/problems/${code}`, as: null }), 404);
    });
  }
});
