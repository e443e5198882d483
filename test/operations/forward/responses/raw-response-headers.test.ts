import { expect } from 'chai';
import { headerValue, headerValues, type RawHeader } from '../../../../core/selftest/raw-http.js';
import type { Answer } from '../../../support/echo-provider.js';
import { JSON_TYPE } from '../../../support/http/call.js';
import { useRawResponses } from '../../../support/http/use-raw-responses.js';

describe('raw responses: conditions and headers', () => {
  const { setup, get } = useRawResponses();

  it('answer HEAD with what the provider says to HEAD', async () => {
    const answer: Answer = { status: 404, headers: [JSON_TYPE, ['etag', '"a"']], body: '{"a":1}' };
    const response = await get(answer, 'crm', { method: 'HEAD' });
    expect(response.status).to.equal(404);
    expect(response.body).to.have.length(0);
    expect(headerValue(response.headers, 'content-length')).to.equal('7');
    expect(headerValue(response.headers, 'content-type')).to.equal('application/json');
    expect(headerValue(response.headers, 'etag')).to.equal('"a"');
    expect(setup.provider.only().method).to.equal('HEAD');
  });

  it('answer HEAD with the status and length that GET would have', async () => {
    const foreign: readonly RawHeader[][] = [
      [['content-type', 'text/html']],
      [['content-type', 'application/json, text/html']],
      [JSON_TYPE, ['content-encoding', 'gzip']],
    ];
    for (const headers of foreign) {
      for (const status of [200, 201, 404, 500]) {
        const answer: Answer = { status, headers, body: '<p>gone</p>' };
        const [head, whole] = [
          await get(answer, 'crm', { method: 'HEAD' }),
          await get(answer, 'crm'),
        ];
        const what = `${status} ${JSON.stringify(headers)}`;
        expect(head.status, what).to.equal(whole.status);
        expect(head.status, what).to.equal(status < 400 ? 502 : status);
        if (status < 400) continue;
        for (const response of [head, whole]) {
          expect(headerValue(response.headers, 'content-length'), what).to.equal('0');
        }
      }
    }
  });

  it('answer HEAD where the provider leaves out the type or the length', async () => {
    for (const [headers, body] of [
      [[], '12'],
      [[['content-type', 'text/html']], null],
    ] as const) {
      const response = await get({ headers, body }, 'crm', { method: 'HEAD' });
      expect(response.status, JSON.stringify(headers)).to.equal(200);
    }
  });

  it('pass on conditions and the 304 and 412 that they lead to', async () => {
    const conditions: RawHeader[] = [
      ['if-none-match', 'W/"1", "2"'],
      ['if-modified-since', 'Wed, 21 Oct 2026 07:28:00 GMT'],
      ['if-unmodified-since', 'Wed, 21 Oct 2026 07:28:01 GMT'],
      ['if-match', '"3"'],
    ];
    const answer: Answer = { status: 304, headers: [['etag', '"2"']], body: null };
    const response = await get(answer, 'crm', { headers: conditions });
    expect(response.status).to.equal(304);
    expect(headerValue(response.headers, 'etag')).to.equal('"2"');
    for (const [name, value] of conditions) {
      expect(headerValue(setup.provider.only().headers, name), name).to.equal(value);
    }
  });

  it('pass on no condition that connection names', async () => {
    await get({}, 'crm', {
      headers: [
        ['if-none-match', '"1"'],
        ['connection', 'close, If-None-Match'],
      ],
    });
    expect(headerValue(setup.provider.only().headers, 'if-none-match')).to.equal(undefined);
  });

  it('need raw mode for conditions', async () => {
    await get({}, 'plain', { headers: [['if-none-match', '"1"']] });
    expect(headerValue(setup.provider.only().headers, 'if-none-match')).to.equal(undefined);
  });

  it('have the default headers of raw mode, and no others', async () => {
    const forwarded: RawHeader[] = [
      ['etag', 'W/"caf\u00e9"'],
      ['last-modified', 'Wed, 21 Oct 2026 07:28:00 GMT'],
      ['retry-after', 'soon'],
      ['content-language', 'de'],
      ['x-total-count', '17'],
    ];
    const dropped: RawHeader[] = [
      ['set-cookie', 'evil=1'],
      ['server', 'evil'],
      ['x-pages', 'evil'],
      ['modgate-origin', 'evil'],
      ['modgate-actor', 'evil'],
      ['x-request-id', 'evil'],
      ['x-content-type-options', 'evil'],
      ['access-control-allow-origin', '*evil'],
      ['alt-svc', 'evil'],
      ['www-authenticate', 'evil'],
    ];
    const response = await get({ headers: [JSON_TYPE, ...forwarded, ...dropped] });
    for (const [name, value] of forwarded) {
      expect(headerValues(response.headers, name), name).to.deep.equal([value]);
    }
    expect(JSON.stringify(response.headers)).not.to.include('evil');
    expect(headerValues(response.headers, 'x-content-type-options')).to.deep.equal(['nosniff']);
  });

  it('have the headers of expose_headers instead of the default', async () => {
    const headers: RawHeader[] = [JSON_TYPE, ['x-pages', '3'], ['etag', '"1"'], ['vary', 'accept']];
    const response = await get({ headers }, 'few');
    expect(headerValue(response.headers, 'x-pages')).to.equal('3');
    expect(headerValue(response.headers, 'etag')).to.equal(undefined);
    expect(headerValues(response.headers, 'vary')).to.deep.equal(['authorization']);
  });

  it('drop headers that connection of the provider names', async () => {
    const headers: RawHeader[] = [
      JSON_TYPE,
      ['connection', 'keep-alive, X-Total-Count, cache-control'],
      ['x-total-count', '17'],
      ['cache-control', 'max-age=60'],
    ];
    const response = await get({ headers });
    expect(headerValue(response.headers, 'x-total-count')).to.equal(undefined);
    expect(headerValue(response.headers, 'cache-control')).to.equal('private');
  });

  it('replace the challenge of a 401 unless it is exposed', async () => {
    const answer: Answer = {
      status: 401,
      headers: [JSON_TYPE, ['www-authenticate', 'Basic realm="db"']],
    };
    const challenges = async (module: string, script = answer) =>
      headerValues((await get(script, module)).headers, 'www-authenticate');
    expect(await challenges('crm')).to.deep.equal(['Provider']);
    expect(await challenges('none')).to.deep.equal(['Provider']);
    expect(await challenges('few')).to.deep.equal(['Basic realm="db"']);
    expect(await challenges('few', { status: 401 })).to.deep.equal(['Provider']);
    expect(await challenges('few', { status: 403 })).to.deep.equal([]);
  });

  for (const [sent, expected] of [
    ['public, max-age=60', 'private, max-age=60'],
    ['s-maxage=10,max-age=5', 'private, max-age=5'],
    ['PUBLIC', 'private'],
    ['private', 'private'],
    ['private="set-cookie", no-cache', 'private, no-cache'],
    ['no-store', 'private, no-store'],
    ['max-age="60", S-MaxAge="9"', 'private, max-age="60"'],
    ['x="a, public, b"', 'private, no-store'],
    ['max-age=60; public', 'private, no-store'],
    ['', 'private'],
  ] as const) {
    it(`have cache-control ${expected} for ${sent || 'an empty one'}`, async () => {
      const headers: RawHeader[] = [JSON_TYPE, ['cache-control', sent]];
      const values = async (module: string) =>
        headerValues((await get({ headers }, module)).headers, 'cache-control');
      expect(await values('crm')).to.deep.equal([expected]);
      expect(await values('wrapped')).to.deep.equal([expected]);
      expect(await values('none')).to.deep.equal(['no-store']);
      expect(await values('plain')).to.deep.equal(['no-store']);
    });
  }

  for (const [sent, expected] of [
    [['accept'], 'accept, authorization'],
    [['Accept, Authorization'], 'Accept, Authorization'],
    [['accept', 'origin'], 'accept, origin, authorization'],
    [['accept, *'], '*'],
    [[], 'authorization'],
  ] as const) {
    it(`have vary ${expected} for ${sent.join(' and ') || 'none'}`, async () => {
      const headers: RawHeader[] = [JSON_TYPE, ...sent.map((value) => ['vary', value] as const)];
      const values = async (module: string) =>
        headerValues((await get({ headers }, module)).headers, 'vary');
      expect(await values('crm')).to.deep.equal([expected]);
      expect(await values('wrapped')).to.deep.equal([expected]);
      expect(await values('plain')).to.deep.equal([]);
    });
  }

  it('are not needed for expose_headers', async () => {
    const headers: RawHeader[] = [JSON_TYPE, ['etag', '"1"'], ['x-content-type-options', 'x']];
    const response = await get({ status: 201, headers }, 'wrapped');
    expect(response.status).to.equal(200);
    expect(JSON.parse(response.body.toString())).to.include({ status: 'forwarded' });
    expect(headerValue(response.headers, 'etag')).to.equal('"1"');
    expect(headerValue(response.headers, 'cache-control')).to.equal('no-store');
    expect(headerValues(response.headers, 'x-content-type-options')).to.deep.equal(['nosniff']);
    expect(headerValue(response.headers, 'modgate-origin')).to.equal(undefined);
  });
});
