import http from 'node:http';
import { expect } from 'chai';
import { headerValue, headerValues } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { describeShop } from '../../support/surfaces/describe-shop.js';
import { DESK_ENTRY } from '../../support/surfaces/desk-surface.js';
import { useSurfaceHost } from '../../support/surfaces/use-surface-host.js';

const UNCAUGHT = 'uncaught error in surface code';
const READER = 'dev-service:ann:shop.read';

describe('surfaces', () => {
  const setup = useSurfaceHost({
    entry: DESK_ENTRY,
    surfaces: ['desk', 'till'],
    files: ({ url }) => ({ 'shop.json': describeShop(url) }),
  });

  const get = (target: string, as: string | null = READER) => call(setup.host, { target, as });
  const post = (target: string, value: unknown, as: string | null = READER) =>
    call(setup.host, {
      method: 'POST',
      target,
      as,
      headers: [JSON_TYPE],
      body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
    });
  const enter = async (request: object, as = READER) =>
    parseJson(await post('/desk/door', request, as)) as unknown as {
      status: number;
      headers: Record<string, string>;
      body: string;
    };

  /** The client leaves as soon as the surface has begun. */
  const failIn = async (action: string) => {
    const request = http.get(`${setup.host.url}/desk/${action}`, { agent: false });
    request.on('error', () => {});
    if (action === 'onabort') {
      await waitUntil('the surface waits', async () =>
        Boolean(parseJson(await get('/desk/counts'))['isWaiting']),
      );
    } else await new Promise((resolve) => request.once('response', resolve));
    request.destroy();
  };

  describe('a request to a surface', () => {
    it('has the actor of valid credentials, frozen, and none without credentials', async () => {
      const { actor, frozen } = parseJson(await get('/desk'));
      expect(actor).to.deep.equal({ kind: 'service', id: 'ann', scopes: ['shop.read'] });
      expect(frozen).to.equal(true);
      expect(parseJson(await get('/desk/whoami', null))['actor']).to.equal(null);
    });

    it('is 401 with credentials that are not valid', async () => {
      expectProblem(await get('/desk', 'nonsense'), 401);
    });

    it('has no actor if the surface authenticates itself', async () => {
      expect(parseJson(await get('/till'))['actor']).to.equal(null);
      expect(parseJson(await get('/till', 'nonsense'))['actor']).to.equal(null);
    });

    it('has its body, and the ids of the response', async () => {
      const response = await post("/desk/echo?x='1'", '{"a":1}');
      const { method, url, target, body, headers } = parseJson(response);
      expect([method, body]).to.deep.equal(['POST', '{"a":1}']);
      expect(target).to.equal("/desk/echo?x='1'");
      expect(new URL(url as string).searchParams.get('x')).to.equal("'1'");
      expect(headers).to.not.have.property('authorization');
      const echo = parseJson(await post('/till/echo', ''));
      expect(echo['headers']).to.have.property('authorization');
    });

    it('is 404 for a path that a URL parser would rewrite', async () => {
      const targets = ['/desk/%2e%2e/metrics', '/desk/../whoami', '/desk/./whoami', '/desk/{x}'];
      for (const target of [...targets, '/desk/a\\b', '/desk/whoami#x', '/%64esk', '//desk']) {
        expectProblem(await get(target), 404);
      }
    });

    it('does not reach a surface whose prefix is only the beginning of the segment', async () => {
      expectProblem(await get('/desktop'), 404);
      expectProblem(await get('/desk.html'), 404);
    });

    it('is 413 for a body above 1 MiB, announced or not', async () => {
      const body = Buffer.alloc(1_048_577, 'a');
      for (const framing of ['length', 'chunked'] as const) {
        const response = await call(setup.host, {
          method: 'POST',
          target: '/desk/echo',
          body,
          framing,
        });
        expectProblem(response, 413, 'validation_failed');
      }
      const most = body.subarray(1);
      const response = await call(setup.host, { method: 'POST', target: '/desk/echo', body: most });
      expect(response.status).to.equal(200);
    });

    it('is 405 for a method that a web request cannot have', async () => {
      const response = await call(setup.host, { method: 'TRACE', target: '/desk' });
      expectProblem(response, 405, 'method_not_allowed');
    });

    it('says whether a page of the same origin made it', async () => {
      const ask = async (name: string, value: string) => {
        const headers = [[name, value]] as const;
        return parseJson(await call(setup.host, { target: '/desk', headers }))['isSameOrigin'];
      };
      const origin = `http://127.0.0.1:${setup.host.port}`;
      expect(parseJson(await get('/desk'))).to.include({ origin, isSameOrigin: false });
      expect(await ask('sec-fetch-site', 'same-origin')).to.equal(true);
      expect(await ask('sec-fetch-site', 'same-site')).to.equal(false);
      expect(await ask('origin', origin)).to.equal(true);
      expect(await ask('origin', 'http://evil.example')).to.equal(false);
      expect(await ask('origin', 'null')).to.equal(false);
    });
  });

  describe('the response of a surface', () => {
    it('keeps its headers, cookies apart, and has the ids of the host', async () => {
      const response = await get('/desk/headers');
      expect(response.status).to.equal(201);
      expect(response.body.toString()).to.equal('body');
      const { headers } = response;
      expect(headerValues(headers, 'set-cookie')).to.deep.equal(['a=1', 'b=2']);
      expect(headerValues(headers, 'x-request-id')).to.have.length(1);
      expect(headerValue(headers, 'x-request-id')).to.match(/^req_/);
      expect(headerValues(headers, 'cache-control')).to.deep.equal(['max-age=1']);
      expect(headerValue(headers, 'x-content-type-options')).to.equal('nosniff');
      expect(headerValue((await get('/desk')).headers, 'cache-control')).to.equal('no-store');
    });

    it('may have no body', async () => {
      expect((await get('/desk/empty')).status).to.equal(204);
      const head = await call(setup.host, { method: 'HEAD', target: '/desk/headers' });
      expect([head.status, head.body.length]).to.deep.equal([201, 0]);
    });

    it('is a Problem for what the surface throws', async () => {
      const conflict = expectProblem(await get('/desk/reject'), 409, 'conflict');
      expect(conflict).to.deep.include({ detail: 'the desk is taken' });
      expect(conflict.errors).to.deep.equal([{ field: 'desk', reason: 'taken' }]);
      expectProblem(await get('/desk/nowhere'), 404);
      for (const target of ['/desk/throw', '/desk/nothing']) {
        const response = await get(target);
        expectProblem(response, 500, 'internal_error');
        expect(response.body.toString()).to.not.contain('secret');
      }
    });

    it('keeps a challenge of its own', async () => {
      const response = await get('/desk/challenge');
      expect(response.status).to.equal(401);
      expect(headerValues(response.headers, 'www-authenticate')).to.deep.equal(['Session']);
    });

    it('is cut where its body fails, or is longer than announced', async () => {
      for (const target of ['/desk/cut', '/desk/wronglength']) {
        const failed = await fetch(`${setup.host.url}${target}`)
          .then((response) => response.text())
          .catch(() => 'failed');
        expect(failed, target).to.equal('failed');
      }
      expect((await get('/desk')).status).to.equal(200);
    });

    it('may be an event stream, which is canceled when the client leaves', async () => {
      const request = http.get(`${setup.host.url}/desk/events`);
      const response = await new Promise<http.IncomingMessage>((resolve) => {
        request.once('response', (res) => res.once('data', () => resolve(res)));
      });
      expect(response.headers['x-accel-buffering']).to.equal('no');
      request.destroy();
      await waitUntil('the stream is canceled', async () => {
        return Number(parseJson(await get('/desk/counts'))['canceled']) > 0;
      });
    });

    for (const [action, place] of [
      ['uncaught', 'in a timer'],
      ['unhandled', 'in a promise'],
      ['onabort', 'in a listener of its signal'],
      ['cancelthrows', 'when its stream is canceled'],
    ] as const) {
      it(`does not keep the host from serving when its code fails ${place}`, async () => {
        const count = () => setup.host.logs().filter(({ msg }) => msg === UNCAUGHT).length;
        const before = count();
        // At most one line a second is logged: the code fails until there is one.
        await waitUntil('the error is logged', async () => {
          await failIn(action);
          return count() > before;
        });
        expect((await get('/modules/shop/http/items/1')).status).to.equal(200);
      });
    }
  });

  describe('the door to the host', () => {
    it('gives the answer that the caller gets over HTTP', async () => {
      const target = '/modules/shop/http/items/1?q=a%20b';
      const direct = await get(target);
      const { status, body, headers } = await enter({ target });
      expect(status).to.equal(200);
      expect(body).to.equal(direct.body.toString());
      expect(headers['content-type']).to.equal('application/json');
    });

    it('decides as over HTTP', async () => {
      const cases: [object, number][] = [
        [{ target: '/modules/shop/http/items/1/../2' }, 404],
        [{ target: '/modules/nowhere/http/x' }, 404],
        [{ target: '/modules/shop/http/items/1', method: 'PATCH' }, 404],
        [{ target: '/modules/shop/http/items', method: 'POST', body: '{}' }, 403],
        [{ target: '/modules' }, 403],
        [{ target: '/metrics' }, 403],
        [{ target: '/livez' }, 200],
        [{ target: 'http://other.example/modules' }, 404],
      ];
      for (const [request, expected] of cases) {
        const headers = { 'content-type': 'application/json' };
        const { status } = await enter({ headers, ...request });
        expect(status, JSON.stringify(request)).to.equal(expected);
      }
      expect((await enter({ target: '/modules' }, 'dev-system:root')).status).to.equal(200);
    });

    it('sends a body to the provider, and records and logs the surface', async () => {
      const headers = { 'content-type': 'application/json', 'x-request-id': 'through-the-desk' };
      const request = {
        method: 'POST',
        target: '/modules/shop/http/items',
        headers,
        body: '{"a":1}',
      };
      const { status } = await enter(request, 'dev-service:ann:shop.write');
      expect(status).to.equal(200);
      const { calls } = parseJson(await get('/calls', 'dev-system:root')) as unknown as {
        calls: Record<string, unknown>[];
      };
      expect(calls[0]).to.include({ request_id: 'through-the-desk', surface: 'desk' });
      expect(calls[0]).to.include({ actor: 'service:ann' });
      await waitUntil('the line', () =>
        setup.host.logs().some((line) => line['request_id'] === 'through-the-desk'),
      );
      const line = setup.host.logs().find((record) => record['request_id'] === 'through-the-desk');
      expect(line).to.include({ surface: 'desk', actor: 'service:ann', module: 'shop' });
    });

    it('does not lead to a surface', async () => {
      for (const target of ['/desk', '/till/whoami']) {
        expect((await enter({ target })).status).to.equal(404);
      }
    });

    it('opens only for an actor of the host, also after a change of the actor', async () => {
      const { results, status } = parseJson(await get('/desk/forged'));
      expect(results).to.deep.equal(Array(4).fill('TypeError'));
      expect(status).to.equal(403);
    });

    it('accepts no credentials and no framing in the headers', async () => {
      for (const name of [
        'authorization',
        'Host',
        'content-length',
        'Transfer-Encoding',
        'cookie',
      ]) {
        const response = await post('/desk/door', { target: '/modules', headers: { [name]: 'x' } });
        expectProblem(response, 500, 'internal_error');
      }
    });

    it('opens for an actor that the surface has authenticated', async () => {
      const login = async (token: string) => (await post('/till/login', token)).body.toString();
      expect(await login('dev-system:ops')).to.equal('{"id":"ops","status":200}');
      expect(await login('dev-service:ann')).to.equal('{"id":"ann","status":403}');
      expect(await login('nonsense')).to.equal('no');
    });

    it('shows the modules, with counts and manifests', async () => {
      const { modules, workers } = parseJson(await get('/desk/snapshot')) as unknown as {
        modules: {
          name: string;
          state: string;
          owner: object;
          counts: object;
          manifest: { module_id: string };
        }[];
        workers: number;
      };
      expect(workers).to.equal(1);
      expect(modules[0]).to.include({ name: 'shop', state: 'live' });
      expect(modules[0]?.owner).to.deep.equal({ name: 'shop team' });
      expect(modules[0]?.counts).to.have.all.keys('calls', 'failed', 'inFlight', 'queued');
      expect(modules[0]?.manifest.module_id).to.equal('shop');
    });

    it('announces a change of a module', async () => {
      const readChanges = async () => Number(parseJson(await get('/desk/counts'))['changes']);
      const before = await readChanges();
      setup.host.drop('other.json', describeShop(setup.provider.url, 'other'));
      await waitUntil('a change', async () => (await readChanges()) > before);
    });
  });

  describe('records', () => {
    const use = async (...input: unknown[]) => {
      const { body } = await post('/desk/records', input);
      return JSON.parse(body.toString()) as unknown;
    };
    const later = Date.now() + 3_600_000;

    // The store may open later than the host.
    before(() => waitUntil('the store', async () => (await use('get', 'none')) === null));

    it('are kept until they expire or are deleted', async () => {
      expect(await use('set', 'a.1', { x: [1] }, { expiresAt: later })).to.equal(true);
      expect(await use('get', 'a.1')).to.deep.include({
        key: 'a.1',
        value: { x: [1] },
        expiresAt: later,
      });
      expect(await use('set', 'a.2', 2, { expiresAt: Date.now() - 1 })).to.equal(true);
      expect(await use('get', 'a.2')).to.equal(null);
      expect(await use('set', 'b', 3, { expiresAt: later })).to.equal(true);
      const listed = (await use('list', 'a.')) as { key: string }[];
      expect(listed.map(({ key }) => key)).to.deep.equal(['a.1']);
      expect(await use('delete', 'a.1')).to.equal(true);
      expect(await use('delete', 'a.1')).to.equal(false);
    });

    it('are set on a condition', async () => {
      const set = (only: string) => use('set', 'c', 1, { expiresAt: later, only });
      expect(await set('present')).to.equal(false);
      expect(await set('absent')).to.equal(true);
      expect(await set('absent')).to.equal(false);
      expect(await set('present')).to.equal(true);
    });

    it('are rejected with a bad key, value or time', async () => {
      const bad = [
        ['set', 'a b', 1, { expiresAt: later }],
        ['set', 'a', 'x'.repeat(65_536), { expiresAt: later }],
        ['set', 'a', 1, {}],
        ['get', ''],
      ];
      for (const input of bad) {
        expect(await use(...input), JSON.stringify(input).slice(0, 50)).to.include({
          error: 'TypeError',
        });
      }
    });

    it('belong to one surface', async () => {
      await use('set', 'own', 1, { expiresAt: later });
      const response = await post('/till/records', ['get', 'own']);
      expect(response.body.toString()).to.equal('null');
    });
  });

  describe('observability', () => {
    it('logs where each surface is', () => {
      const ready = setup.host.logs().filter(({ msg }) => msg === 'surface ready');
      const urls = ready.map(({ url }) => url);
      expect(urls).to.include.members([`${setup.host.url}/desk`, `${setup.host.url}/till`]);
    });

    it('counts and lists surfaces', async () => {
      const metrics = (await get('/metrics', 'dev-system:root')).body.toString();
      expect(metrics).to.match(/modgate_surface_requests_total\{surface="desk",status="200"\} \d+/);
      expect(metrics).to.match(/modgate_surface_duration_seconds_count\{surface="till"\} \d+/);
      const { surfaces } = parseJson(await get('/plugins', 'dev-system:root')) as unknown as {
        surfaces: Record<string, unknown>[];
      };
      expect(surfaces.find(({ name }) => name === 'desk')).to.deep.equal({
        name: 'desk',
        plugin: 'acme-desk',
        prefix: '/desk',
        state: 'open',
        reason: null,
      });
    });
  });
});
