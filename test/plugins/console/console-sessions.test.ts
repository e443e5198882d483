import http from 'node:http';
import { expect } from 'chai';
import { headerValues } from '../../../core/selftest/raw-http.js';
import {
  callConsole,
  OPS,
  readSetCookie,
  SAME_ORIGIN,
  signIn,
} from '../../support/console/console-client.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const ROUTES = [
  { method: 'GET', path: '/items', capability: 'shop.read' },
  { method: 'POST', path: '/items', capability: 'shop.write' },
];
const READER = 'dev-service:ann:shop.read,modgate.modules.read';

describe('sign-in to the console', () => {
  const setup = useHost((provider) => ({
    'shop.json': describeModule('shop', provider.url, ROUTES),
  }));
  const status = async (request: Parameters<typeof callConsole>[1]) =>
    (await callConsole(setup.host, request)).status;
  /** The reason for which a session is not accepted. */
  const readEnd = async (cookie: string) => {
    const response = await callConsole(setup.host, { path: '/session', cookie });
    expect(response.status).to.equal(401);
    const { errors } = parseJson(response) as { errors: { reason: string }[] };
    return errors[0]?.reason;
  };

  it('says how people can sign in', async () => {
    const response = await callConsole(setup.host, { path: '/sign-in' });
    expect(parseJson(response)).to.deep.equal({
      available: true,
      reason: null,
      token: true,
      developer: true,
      oidc: [],
    });
  });

  it('gives a cookie for a token, which scripts cannot read and other sites do not send', async () => {
    const body = { token: OPS };
    const response = await callConsole(setup.host, { method: 'POST', path: '/session', body });
    expect(response.status).to.equal(204);
    const [cookie = '', ...others] = readSetCookie(response);
    expect(others).to.deep.equal([]);
    expect(cookie).to.match(
      /^modgate=[A-Za-z0-9_-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/,
    );
  });

  it('is 401 for a token that is not valid, without a dialog of the browser', async () => {
    for (const token of ['nonsense', 'dev-user:a b']) {
      const request = { method: 'POST', path: '/session', body: { token } };
      const response = await callConsole(setup.host, request);
      expect(response.status).to.equal(401);
      expect(headerValues(response.headers, 'www-authenticate')).to.deep.equal(['Session']);
      expect(readSetCookie(response)).to.deep.equal([]);
    }
    expect(await status({ method: 'POST', path: '/session', body: {} })).to.equal(400);
    expect(await status({ method: 'POST', path: '/session', body: [] })).to.equal(400);
  });

  it('shows the actor and the scopes', async () => {
    const cookie = await signIn(setup.host, READER);
    const session = parseJson(await callConsole(setup.host, { path: '/session', cookie }));
    expect(session).to.deep.include({
      actor: { kind: 'service', id: 'ann', scopes: ['modgate.modules.read', 'shop.read'] },
      via: 'token',
    });
  });

  it('lets developers in with one request where development tokens are on', async () => {
    const request = { method: 'POST', path: '/session/developer' };
    const response = await callConsole(setup.host, request);
    expect(response.status).to.equal(204);
    const cookie = readSetCookie(response)[0]?.split(';')[0] ?? '';
    const { actor } = parseJson(await callConsole(setup.host, { path: '/session', cookie })) as {
      actor: { kind: string; id: string; scopes: string[] };
    };
    expect(actor).to.include({ kind: 'user', id: 'developer' });
    expect(actor.scopes).to.include.members(['console.admin', 'shop.read', 'modgate.sessions']);
  });

  it('makes a new cookie each time, whatever cookie the browser has', async () => {
    const first = await signIn(setup.host);
    const chosen = `modgate=${'A'.repeat(43)}`;
    for (const cookie of [first, chosen]) {
      const request = { method: 'POST', path: '/session', body: { token: READER }, cookie };
      const [made = ''] = readSetCookie(await callConsole(setup.host, request));
      expect(made.startsWith(`${cookie};`)).to.equal(false);
    }
    expect(await status({ path: '/session', cookie: first })).to.equal(401);
    expect(await status({ path: '/session', cookie: chosen })).to.equal(401);
  });

  it('ends with sign-out, in the browser and in the host', async () => {
    const cookie = await signIn(setup.host);
    const response = await callConsole(setup.host, { method: 'DELETE', path: '/session', cookie });
    expect(response.status).to.equal(204);
    expect(readSetCookie(response)[0]).to.match(/^modgate=; .*Max-Age=0/);
    expect(await readEnd(cookie)).to.equal('session signed out');
  });

  it('does not count with two cookies of its name', async () => {
    const cookie = await signIn(setup.host);
    expect(await status({ path: '/session', cookie: `${cookie}; ${cookie}` })).to.equal(401);
    expect(await status({ path: '/session', cookie: `a=1; ${cookie}` })).to.equal(200);
  });

  it('needs a known address: neither host nor x-forwarded headers replace it', async () => {
    const headers = [SAME_ORIGIN, ['host', 'console.example'] as const];
    for (const more of [[], [['x-forwarded-proto', 'https'] as const]]) {
      const request = { method: 'POST', path: '/session', body: { token: OPS } };
      const response = await call(setup.host, {
        ...request,
        target: '/console/api/session',
        as: null,
        headers: [...headers, ...more, JSON_TYPE],
        body: Buffer.from(JSON.stringify(request.body)),
      });
      expect(response.status).to.equal(403);
    }
  });

  it('rejects a body that is nested, before it is parsed', async () => {
    const token = `${'['.repeat(9)}1${']'.repeat(9)}`;
    const body = Buffer.from(`{"token":${token}}`);
    const target = '/console/api/session';
    const headers = [SAME_ORIGIN, JSON_TYPE];
    const response = await call(setup.host, { method: 'POST', target, as: null, headers, body });
    expect(response.status).to.equal(400);
    expect(parseJson(response)['detail']).to.equal('the body is not a JSON object');
  });

  describe('the cookie', () => {
    it('does not count outside of the console', async () => {
      const cookie = await signIn(setup.host, 'dev-system:root');
      for (const target of ['/modules/shop/http/items', '/modules', '/calls', '/metrics']) {
        const headers = [
          ['cookie', cookie],
          ['host', '127.0.0.1'],
        ] as const;
        const response = await call(setup.host, { target, as: null, headers });
        expect(response.status, target).to.equal(target === '/metrics' ? 200 : 401);
      }
    });

    it('is the only credential of the api', async () => {
      const bearer = ['authorization', `Bearer ${OPS}`] as const;
      for (const path of ['/session', '/modules', '/modules/shop/http/items', '/events']) {
        const response = await callConsole(setup.host, { path, headers: [SAME_ORIGIN, bearer] });
        expect(response.status, path).to.equal(401);
        const challenges = headerValues(response.headers, 'www-authenticate');
        expect(challenges).to.deep.equal(['Session']);
      }
    });

    it('is of no use to pages of other origins', async () => {
      const cookie = await signIn(setup.host, 'dev-system:root');
      const path = '/modules/shop/http/items';
      const ownOrigin = `http://127.0.0.1:${setup.host.port}`;
      const send = (headers: Parameters<typeof callConsole>[1]['headers'], method = 'POST') =>
        status({
          method,
          path,
          cookie,
          headers: headers ?? [],
          ...(method === 'POST' && { body: {} }),
        });
      // A form, a fetch and a navigation of another site, of another port, and of a tool.
      expect(await send([['sec-fetch-site', 'cross-site']])).to.equal(403);
      expect(await send([['sec-fetch-site', 'same-site']])).to.equal(403);
      expect(await send([['origin', 'http://evil.example']])).to.equal(403);
      expect(await send([['origin', 'http://127.0.0.1:1']])).to.equal(403);
      expect(await send([['origin', 'null']])).to.equal(403);
      expect(await send([])).to.equal(403);
      expect(await send([['sec-fetch-site', 'cross-site']], 'GET')).to.equal(403);
      expect(await send([['sec-fetch-site', 'same-site']], 'GET')).to.equal(403);
      expect(setup.provider.requests).to.have.length(0);
      expect(await send([['origin', ownOrigin]])).to.equal(200);
      expect(await send([SAME_ORIGIN])).to.equal(200);
      expect(await send([['sec-fetch-site', 'none']], 'GET')).to.equal(200);
    });

    it('does not count for a form of the same origin', async () => {
      const cookie = await signIn(setup.host, 'dev-system:root');
      for (const type of [
        'application/x-www-form-urlencoded',
        'text/plain',
        'multipart/form-data',
      ]) {
        const response = await call(setup.host, {
          method: 'POST',
          target: '/console/api/modules/shop/http/items',
          as: null,
          headers: [SAME_ORIGIN, ['cookie', cookie], ['content-type', type]],
          body: Buffer.from('{}'),
        });
        expect(response.status, type).to.equal(403);
      }
      expect(setup.provider.requests).to.have.length(0);
    });
  });

  describe('the routes of the host below /console/api', () => {
    it('give the same answer, decided as the actor of the session', async () => {
      const cookie = await signIn(setup.host, READER);
      const path = "/modules/shop/http/items?a='b'";
      const direct = await call(setup.host, { target: path, as: READER });
      const { status: code, body } = await callConsole(setup.host, { path, cookie });
      expect([code, body.toString()]).to.deep.equal([200, direct.body.toString()]);
      expect(setup.provider.requests[1]?.target).to.equal("/items?a='b'");
      const request = { method: 'POST', path: '/modules/shop/http/items', cookie, body: {} };
      expect(await status(request)).to.equal(403);
      expect(await status({ path: '/modules', cookie })).to.equal(200);
      expect(await status({ path: '/calls', cookie })).to.equal(403);
      expect(await status({ path: '/descriptors?module=shop', cookie })).to.equal(200);
      expect(await status({ path: '/metrics', cookie })).to.equal(404);
      expect(await status({ path: '/modules/shop', cookie })).to.equal(404);
      expect(await status({ path: '/livez', cookie })).to.equal(404);
    });

    it('reject a body with more values than the host reads', async () => {
      const cookie = await signIn(setup.host, 'dev-service:ann:shop.write');
      const path = '/modules/shop/http/console-bridge/shop.write';
      const body = { payload: Array.from({ length: 20_000 }, () => null) };
      const response = await callConsole(setup.host, { method: 'POST', path, cookie, body });
      expect(response.status).to.equal(400);
      expect(parseJson(response)['detail']).to.include('20000 values');
      // A forwarded body has no such bound.
      const item = { method: 'POST', path: '/modules/shop/http/items', cookie, body };
      expect(await status(item)).to.equal(200);
    });

    it('have samples and facts about the host beside them', async () => {
      const cookie = await signIn(setup.host);
      const samples = parseJson(await callConsole(setup.host, { path: '/samples', cookie }));
      expect(samples['interval_ms']).to.equal(10_000);
      expect(samples['samples']).to.be.an('array');
      const facts = parseJson(await callConsole(setup.host, { path: '/host', cookie }));
      expect(facts).to.include({ workers: 1, node: process.version });
      expect(facts['states']).to.have.property('live');
      const poor = await signIn(setup.host, 'dev-service:ann');
      expect(await status({ path: '/samples', cookie: poor })).to.equal(403);
      const few = parseJson(await callConsole(setup.host, { path: '/host', cookie: poor }));
      expect(few).to.have.all.keys('version');
      expect(await status({ method: 'POST', path: '/host', cookie, body: {} })).to.equal(405);
    });

    it('keep the ids of the request', async () => {
      const cookie = await signIn(setup.host, READER);
      const response = await callConsole(setup.host, {
        path: '/calls',
        cookie,
        headers: [SAME_ORIGIN, ['x-request-id', 'of-the-page']],
      });
      expect(headerValues(response.headers, 'x-request-id')).to.deep.equal(['of-the-page']);
      expect(parseJson(response)['request_id']).to.equal('of-the-page');
    });

    it('are 404 for a path that is not canonical', async () => {
      const cookie = await signIn(setup.host, READER);
      expect(await status({ path: '/modules/shop/http/../../../metrics', cookie })).to.equal(404);
      expect(await status({ path: '/modules/shop/http/%2e%2e/items', cookie })).to.equal(404);
    });
  });

  describe('the list of sessions', () => {
    it('shows them without their cookies, and ends one', async () => {
      const cookie = await signIn(setup.host);
      const other = await signIn(setup.host, READER);
      const { sessions } = parseJson(
        await callConsole(setup.host, { path: '/sessions', cookie }),
      ) as {
        sessions: { id: string; actor: { id: string } }[];
      };
      const session = sessions.find(({ actor }) => actor.id === 'ann');
      expect(session).to.have.all.keys('id', 'actor', 'created_at', 'used_at', 'expires_at');
      expect(JSON.stringify(sessions)).to.not.contain(other.slice('modgate='.length));
      expect(await status({ path: '/session', cookie: `modgate=${session?.id}` })).to.equal(401);
      const path = `/sessions/${session?.id}`;
      expect(await status({ method: 'DELETE', path, cookie: other })).to.equal(403);
      const ofAnn = sessions.filter(({ actor }) => actor.id === 'ann');
      for (const { id } of ofAnn) {
        expect(await status({ method: 'DELETE', path: `/sessions/${id}`, cookie })).to.equal(204);
      }
      expect(await readEnd(other)).to.equal('session revoked');
      expect(await status({ method: 'DELETE', path, cookie })).to.equal(404);
    });

    it('accepts a bearer token too', async () => {
      const headers = [['authorization', `Bearer ${OPS}`] as const];
      expect(await status({ path: '/sessions', headers })).to.equal(200);
      const bad = [['authorization', 'Bearer nonsense'] as const];
      expect(await status({ path: '/sessions', headers: bad })).to.equal(401);
      const poor = [['authorization', `Bearer ${READER}`] as const];
      expect(await status({ path: '/sessions', headers: poor })).to.equal(403);
    });
  });

  describe('the stream of events', () => {
    it('has a limit for each actor, over all sessions', async () => {
      const token = 'dev-user:many:modgate.modules.read';
      const cookies = [await signIn(setup.host, token), await signIn(setup.host, token)];
      const leave = new AbortController();
      const open = (index: number) =>
        fetch(`${setup.host.url}/console/api/events`, {
          headers: { cookie: cookies[index % 2] ?? '' },
          signal: leave.signal,
        });
      const statuses: number[] = [];
      for (let index = 0; index < 21; index += 1) statuses.push((await open(index)).status);
      leave.abort();
      expect(statuses).to.deep.equal([...Array.from({ length: 20 }, () => 200), 429]);
    });

    it('begins with the version, and ends with the session', async () => {
      const cookie = await signIn(setup.host);
      const stream = await openStream(setup.host.port, cookie);
      await stream.until('event: hello');
      await callConsole(setup.host, { method: 'DELETE', path: '/session', cookie });
      await stream.until('event: session\ndata: {"ended":"signed_out"}');
      await stream.ended;
    });

    it('sends changes of modules and new calls', async () => {
      const cookie = await signIn(setup.host);
      const stream = await openStream(setup.host.port, cookie, '?calls=true');
      await stream.until('event: hello');
      await call(setup.host, { target: '/modules/shop/http/items' });
      await stream.until('event: calls');
      setup.host.drop('late.json', describeModule('late', setup.provider.url, ROUTES));
      await stream.until('"name":"late"');
      stream.close();
    });
  });
});

/** An open event stream; `until` waits for a text in what has arrived so far. */
async function openStream(port: number, cookie: string, query = '') {
  const request = http.get({
    port,
    path: `/console/api/events${query}`,
    headers: { host: `127.0.0.1:${port}`, cookie, 'sec-fetch-site': 'same-origin' },
  });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  expect(response.statusCode).to.equal(200);
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return {
    ended: new Promise((resolve) => response.once('end', resolve)),
    until: (expected: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!text.includes(expected)) return;
          response.off('data', look);
          resolve();
        };
        response.on('data', look);
        look();
      }),
    close: () => request.destroy(),
  };
}
