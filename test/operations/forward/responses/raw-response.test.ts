import { expect } from 'chai';
import { headerValue, headerValues, type RawHeader } from '../../../../core/selftest/raw-http.js';
import type { Answer } from '../../../support/echo-provider.js';
import { call, JSON_TYPE } from '../../../support/http/call.js';
import { expectProblem, reasonOf } from '../../../support/http/expect-problem.js';
import { useRawResponses } from '../../../support/http/use-raw-responses.js';

const CHUNKED = `HTTP/1.1 200 OK\r\n${JSON_TYPE.join(': ')}\r\ntransfer-encoding: chunked\r\n\r\n`;

describe('raw responses', () => {
  const { setup, get } = useRawResponses();

  it('have the status, the content type and the bytes of the provider', async () => {
    const body = ' {"n": 12345678901234567890, "n": 1.10}\n';
    const type = 'application/vnd.api+json; ext="x"';
    const response = await get({ status: 203, headers: [['content-type', type]], body });
    expect(response.status).to.equal(203);
    expect(response.body.toString()).to.equal(body);
    expect(headersOf(response.headers)).to.deep.equal({
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private',
      'content-type': type,
      'content-length': String(body.length),
      vary: 'authorization',
      'modgate-origin': 'provider',
    });
  });

  for (const status of [200, 201, 202, 207, 226, 299, 400, 401, 403, 404, 405, 409, 410]) {
    it(`pass on ${status}`, async () => {
      const response = await get({ status, body: '{"detail":"its own"}' });
      expect(response.status).to.equal(status);
      expect(response.body.toString()).to.equal('{"detail":"its own"}');
      expect(headerValue(response.headers, 'modgate-origin')).to.equal('provider');
    });
  }

  for (const status of [
    412, 415, 418, 422, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 599,
  ]) {
    it(`pass on ${status} with a Problem of the provider`, async () => {
      const headers: RawHeader[] = [['content-type', 'application/problem+json']];
      const response = await get({ status, headers, body: '{"title":"mine","extra":[1]}' });
      expect(response.status).to.equal(status);
      expect(headerValue(response.headers, 'content-type')).to.equal('application/problem+json');
      expect(response.body.toString()).to.equal('{"title":"mine","extra":[1]}');
    });
  }

  for (const [status, failure] of [
    [206, 'status'],
    [300, 'protocol'],
    [301, 'protocol'],
    [302, 'protocol'],
    [303, 'protocol'],
    [305, 'protocol'],
    [306, 'protocol'],
    [307, 'protocol'],
    [308, 'protocol'],
    [309, 'protocol'],
    [310, 'protocol'],
    [399, 'protocol'],
    [407, 'status'],
    [421, 'status'],
  ] as const) {
    it(`are 502 with the failure ${failure} for ${status}`, async () => {
      const headers: RawHeader[] = [JSON_TYPE, ['location', '/x'], ['proxy-authenticate', 'Basic']];
      const response = await get({ status, headers });
      const problem = expectProblem(response, 502);
      expect(reasonOf(problem, 'failure')).to.equal(failure);
      expect(reasonOf(problem, 'provider_status')).to.equal(String(status));
      expect(headerValue(response.headers, 'modgate-origin')).to.equal('host');
      expect(headerValue(response.headers, 'location')).to.equal(undefined);
    });
  }

  for (const [title, answer] of [
    ['204', { status: 204, headers: [], body: null }],
    ['304', { status: 304, headers: [['etag', '"1"']], body: null }],
  ] as const) {
    it(`have neither body nor length for ${title}`, async () => {
      const response = await get(answer);
      expect(response.status).to.equal(answer.status);
      expect(response.body).to.have.length(0);
      for (const name of ['content-length', 'content-type', 'transfer-encoding']) {
        expect(headerValue(response.headers, name), name).to.equal(undefined);
      }
    });
  }

  it('have no content type for an empty body of another type', async () => {
    for (const status of [200, 202, 404]) {
      const response = await get({ status, headers: [['content-type', 'text/html']], body: null });
      expect(response.status).to.equal(status);
      expect(headerValue(response.headers, 'content-length')).to.equal('0');
      expect(headerValue(response.headers, 'content-type')).to.equal(undefined);
    }
  });

  const html: RawHeader = ['content-type', 'text/html'];
  for (const [title, answer] of [
    ['a page', { headers: [html], body: '<p>' }],
    ['no content type', { headers: [], body: '{}' }],
    ['a second content type', { headers: [JSON_TYPE, html], body: '{}' }],
    [
      'a comma in the content type',
      {
        headers: [['content-type', 'application/json; a="b", text/html']],
        body: '{}',
      },
    ],
    ['an encoded body', { headers: [JSON_TYPE, ['content-encoding', 'gzip']], body: '{}' }],
    ['text of JSON type', { body: 'no' }],
    ['UTF-16', { body: Buffer.from('{}', 'utf16le') }],
    [
      'an error that ends with the connection',
      {
        raw: [`HTTP/1.1 404 Not Found\r\n${JSON_TYPE.join(': ')}\r\n\r\n123`],
      },
    ],
    [
      'an error that ends with the connection before its first byte',
      { raw: [`HTTP/1.1 404 Not Found\r\n${JSON_TYPE.join(': ')}\r\n\r\n`] },
    ],
    [
      'a body cut short',
      {
        raw: [`HTTP/1.1 409 Conflict\r\n${JSON_TYPE.join(': ')}\r\ncontent-length: 5\r\n\r\n123`],
      },
    ],
    ['chunks cut short', { raw: [CHUNKED, '2\r\n{}\r\n'] }],
  ] satisfies (readonly [string, Answer])[]) {
    it(`are 502 for ${title}`, async () => {
      const problem = expectProblem(await get(answer), 502);
      expect(reasonOf(problem, 'failure')).to.equal('protocol');
    });
  }

  const OMITTED: readonly (readonly [title: string, answer: Answer, detail: string])[] = [
    ['a page', { status: 404, headers: [html], body: '<p>' }, 'content-type text/html'],
    ['an empty type', { status: 500, headers: [], body: '{}' }, 'content-type missing'],
    ['text of JSON type', { status: 400, body: 'no' }, 'invalid JSON at byte 1'],
    [
      'an encoded body',
      { status: 422, headers: [JSON_TYPE, ['content-encoding', 'gzip']], body: '{}' },
      'content-encoding gzip',
    ],
  ];
  for (const [title, answer, detail] of OMITTED) {
    it(`pass on an error without ${title}`, async () => {
      const status = 'status' in answer ? answer.status : 0;
      const response = await get(answer, 'crm', { headers: [['x-request-id', 'omitted']] });
      expect(response.status).to.equal(status);
      expect(response.body).to.have.length(0);
      expect(headerValue(response.headers, 'content-type')).to.equal(undefined);
      expect(headerValue(response.headers, 'modgate-origin')).to.equal('provider');
      const listed = await call(setup.host, { target: '/calls?module=crm&limit=1' });
      const [record] = JSON.parse(listed.body.toString()).calls;
      expect(record).to.include({ request_id: 'omitted', status, failure: null });
      expect(record.failure_detail).to.equal(detail);
    });
  }

  it('are 304 without a location', async () => {
    const response = await get({ status: 304, headers: [['location', '/x']], body: null });
    expect(response.status).to.equal(304);
    expect(headerValue(response.headers, 'location')).to.equal(undefined);
  });

  it('are 502 for more than response_bytes, whatever the status', async () => {
    for (const status of [200, 404]) {
      const problem = expectProblem(
        await get({ status, body: `"${'x'.repeat(80)}"` }, 'small'),
        502,
      );
      expect(reasonOf(problem, 'failure')).to.equal('protocol');
    }
  });

  it('differ from Problems of the host by modgate-origin, in any mode', async () => {
    const targets = ['crm', 'plain', 'wrapped', 'nothing'].flatMap((name) => [
      `/modules/${name}/http/nothing`,
      `/modules/${name}/http`,
      `/modules/${name}/http//`,
      `/modules/${name}/other`,
    ]);
    for (const target of targets) {
      for (const as of ['dev-system:root', 'dev-user:u', null]) {
        const response = await call(setup.host, { target, as });
        expect(headerValues(response.headers, 'modgate-origin'), target).to.deep.equal(['host']);
      }
    }
    for (const target of ['/modules', '/nothing', '/calls?limit=x']) {
      const response = await call(setup.host, { target, as: null });
      expect(headerValue(response.headers, 'modgate-origin'), target).to.equal(undefined);
    }
  });

  it('are explained with the option and the place that sets it', async () => {
    const target = encodeURIComponent('/modules/few/http/items/7');
    const listed = await call(setup.host, { target: `/explain?method=GET&target=${target}` });
    const { verdict, limits, headers } = JSON.parse(listed.body.toString()) as {
      verdict: { detail: string };
      limits: { name: string; value: string; source: string }[];
      headers: { name: string }[];
    };
    expect(verdict.detail).to.include('raw mode');
    const settings = limits.filter(({ name }) => /^(?:responses|provider_errors)/.test(name));
    expect(settings.map(({ name, value }) => `${name} ${value}`)).to.deep.equal([
      'responses.mode raw',
      'responses.expose_headers x-pages www-authenticate',
    ]);
    for (const { source } of settings) expect(source).to.match(/^few\.json:\d+:\d+$/);
    expect(headers.map(({ name }) => name)).to.include.members(['if-none-match', 'if-match']);
  });

  it('are announced in GET /modules', async () => {
    const listed = await call(setup.host, { target: '/modules' });
    const { modules } = JSON.parse(listed.body.toString()) as {
      modules: { name: string; responses?: object }[];
    };
    const find = (name: string) => modules.find((module) => module.name === name);
    const responses = { mode: 'raw', expose_headers: ['x-pages', 'www-authenticate'] };
    expect(find('few')?.responses).to.deep.equal(responses);
    expect(find('plain')).not.to.have.property('responses');
  });

  it('are recorded with the status of the provider and no failure', async () => {
    await get({ status: 503 }, 'crm', { headers: [['x-request-id', 'raw-503']] });
    await get({ status: 302 }, 'crm', { headers: [['x-request-id', 'raw-302']] });
    const listed = await call(setup.host, { target: '/calls?module=crm&limit=2' });
    const { calls } = JSON.parse(listed.body.toString()) as { calls: Record<string, unknown>[] };
    expect(
      calls.map(({ request_id, status, failure }) => ({ request_id, status, failure })),
    ).to.deep.equal([
      { request_id: 'raw-302', status: 502, failure: 'protocol' },
      { request_id: 'raw-503', status: 503, failure: null },
    ]);
  });

  it('count as failed calls of the module with a status of 500 or more', async () => {
    const failed = async () => {
      const listed = await call(setup.host, { target: '/modules' });
      const { modules } = JSON.parse(listed.body.toString()) as {
        modules: { name: string; counts: { failed: number } }[];
      };
      return modules.find(({ name }) => name === 'few')?.counts.failed;
    };
    const before = await failed();
    await get({ status: 404 }, 'few');
    expect(await failed()).to.equal(before);
    await get({ status: 500 }, 'few');
    expect(await failed()).to.equal((before ?? 0) + 1);
  });
});

/** The headers by lower-case name, without those of every response. */
function headersOf(headers: readonly RawHeader[]): Record<string, string> {
  const common = new Set(['x-request-id', 'x-correlation-id', 'date', 'connection']);
  const names = headers.map(([name]) => name.toLowerCase()).filter((name) => !common.has(name));
  return Object.fromEntries(names.map((name) => [name, headerValues(headers, name).join(' | ')]));
}
