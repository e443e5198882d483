import { expect } from 'chai';
import {
  headerValue,
  type RawHeader,
  type ReceivedResponse,
} from '../../../core/selftest/raw-http.js';
import type { AdapterSubject, RunningReference } from '../../../core/testkit/index.js';
import { EXACT_JSON, VERSION_HEADERS } from '../../../core/testkit/reference/behaviors.js';
import { describeReference } from '../../../core/testkit/reference/reference-routes.js';
import { call } from '../http/call.js';
import { expectProblem, reasonOf } from '../http/expect-problem.js';
import { waitUntil } from '../http/wait-until.js';
import type { RunningHost } from '../start-host.js';
import { startReference } from './start-reference.js';

/** Lost with an envelope, so they show that raw mode works over this kind. */
const STATUSES = [200, 201, 299, 400, 401, 404, 409, 412, 429, 500, 503, 599];
const MODULE = 'raw-reference';
const BASE = `/modules/${MODULE}/http`;

/** Calls the reference module of a subject through a host in raw mode. All tests share one module. */
export function rawModeSuite(subject: AdapterSubject, host: () => RunningHost): void {
  describe(`raw mode over ${subject.adapter.kind}`, () => {
    let reference: RunningReference | undefined;
    const get = (path: string, headers: RawHeader[] = [], method = 'GET') =>
      call(host(), { method, target: `${BASE}${path}`, headers });

    before(async () => {
      reference = await startReference(subject);
      host().drop(`${MODULE}.json`, {
        module: MODULE,
        provider: { kind: subject.adapter.kind, config: reference.config },
        manifest: { inline: describeReference(subject.adapter, reference) },
        responses: { mode: 'raw' },
      });
      const isServed = async () => (await get('/exact')).status === 200;
      await waitUntil('the module', isServed);
    });

    after(async () => {
      host().remove(`${MODULE}.json`);
      const isGone = async () => (await get('/exact')).status === 404;
      await waitUntil('the removal of the module', isGone);
      await reference?.stop();
    });

    it('passes on the body byte for byte', async () => {
      const response = await get('/exact');
      expect(response.body.toString()).to.equal(EXACT_JSON);
      expect(headerValue(response.headers, 'content-type')).to.equal('application/json');
      expect(headerValue(response.headers, 'modgate-origin')).to.equal('provider');
    });

    for (const status of STATUSES) {
      it(`passes on ${status} with its body, and without one`, async () => {
        const full = await get(`/status/${status}`);
        expect(full.status).to.equal(status);
        expect(full.body.toString()).to.equal(`{"status":${status}}`);
        const bare = await get(`/bare/${status}`);
        expect(bare.status).to.equal(status);
        expect(bare.body).to.have.length(0);
        expect(headerValue(bare.headers, 'content-length')).to.equal('0');
        expect(headerValue(bare.headers, 'content-type')).to.equal(undefined);
      });
    }

    it('passes on 204 without a body', async () => {
      const response = await get('/empty');
      expect(response.status).to.equal(204);
      expect(response.body).to.have.length(0);
      expect(headerValue(response.headers, 'content-length')).to.equal(undefined);
    });

    it('exposes the default headers, with references that lead to the host', async () => {
      const response = await get('/version');
      expect(response.body.toString()).to.equal('{"version":1}');
      expectVersionHeaders(response);
    });

    it('passes on a condition and the 304 that it leads to', async () => {
      const response = await get('/version', [['if-none-match', VERSION_HEADERS.etag]]);
      expect(response.status).to.equal(304);
      expect(response.body).to.have.length(0);
      expectVersionHeaders(response);
    });

    it('answers HEAD with the headers of GET', async () => {
      const [full, head] = [await get('/version'), await get('/version', [], 'HEAD')];
      expect(head.status).to.equal(200);
      expect(head.body).to.have.length(0);
      expect(withoutIds(head)).to.deep.equal(withoutIds(full));
    });

    it('is 502 for a redirect and for a body that is not JSON', async () => {
      for (const path of ['/redirect', '/text']) {
        const problem = expectProblem(await get(path), 502);
        expect(reasonOf(problem, 'failure')).to.equal('protocol');
      }
    });
  });
}

/** A 304 carries no location. */
function expectVersionHeaders({ status, headers }: ReceivedResponse): void {
  const expected = {
    ...VERSION_HEADERS,
    'cache-control': `private, ${VERSION_HEADERS['cache-control']}`,
    link: VERSION_HEADERS.link.replaceAll('</', `<${BASE}/`),
    location: status === 304 ? undefined : `${BASE}${VERSION_HEADERS.location}`,
    vary: `${VERSION_HEADERS.vary}, authorization`,
  };
  for (const [name, value] of Object.entries(expected)) {
    expect(headerValue(headers, name), name).to.equal(value);
  }
}

function withoutIds({ headers }: ReceivedResponse): RawHeader[] {
  return headers.filter(([name]) => !/^(?:x-request-id|x-correlation-id|date)$/i.test(name));
}
