import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { headerValue, headerValues, type RawHeader } from '../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../support/http/call.js';
import {
  bearer,
  COOKIE,
  FILES_TARGET,
  KEY,
  OTHER_TOKEN,
  sha256,
  TARGET,
  TOKEN,
  useCredentials,
} from '../support/http/use-credentials.js';
import { waitUntil } from '../support/http/wait-until.js';

function sign(method: string, target: string, body: string): RawHeader {
  const text = [method, target, sha256(body)].join('\n');
  return ['x-signature', `${sha256(body)}.${createHmac('sha256', KEY).update(text).digest('hex')}`];
}

describe('credentials from any header', () => {
  const setup = useCredentials();
  const { send, actorOf, start, writeConfig } = setup;

  const ACCEPTED: Readonly<Record<string, readonly [actor: string, headers: RawHeader[]]>> = {
    'a bearer token': ['service:billing', [bearer(TOKEN)]],
    'a token in the token header': ['service:billing', [['X-Api-Key', TOKEN]]],
    'the same token in both': ['service:billing', [bearer(TOKEN), ['x-api-key', TOKEN]]],
    'the key of a plugin': ['service:key', [['x-acme-key', KEY]]],
    'the cookie of a plugin': ['service:cookie', [['cookie', COOKIE]]],
    'a cookie beside one of the host': ['service:cookie', [['cookie', `modgate=x; ${COOKIE}`]]],
    'a signature': ['service:signed', [sign('GET', TARGET, '')]],
    'a bearer token and a key': ['service:billing', [bearer(TOKEN), ['x-acme-key', KEY]]],
  };
  for (const [title, [actor, headers]] of Object.entries(ACCEPTED)) {
    it(`accepts ${title}`, async () => {
      const response = await send(headers);
      expect(response.status, response.body.toString()).to.equal(200);
      expect(actorOf()).to.equal(actor);
      const names = setup.provider.only().headers.map(([name]) => name.toLowerCase());
      const credentialHeaders = [
        'x-api-key',
        'x-acme-key',
        'cookie',
        'authorization',
        'x-signature',
      ];
      expect(names)
        .not.to.include.members([credentialHeaders[0]])
        .and.not.have.any.members(credentialHeaders);
    });
  }

  const DENIED: Readonly<Record<string, readonly [fields: string[], headers: RawHeader[]]>> = {
    'no credentials': [['authorization', 'x-api-key', 'x-acme-key', 'cookie', 'x-signature'], []],
    'only a cookie of the host': [
      ['authorization', 'x-api-key', 'x-acme-key', 'cookie', 'x-signature'],
      [['cookie', '__Host-modgate=x; modgate=y; modgate-oidc=z']],
    ],
    'two different tokens': [
      ['authorization', 'x-api-key'],
      [bearer(TOKEN), ['x-api-key', OTHER_TOKEN]],
    ],
    'a valid bearer token and an empty token header': [
      ['authorization', 'x-api-key'],
      [bearer(TOKEN), ['x-api-key', '']],
    ],
    'two lines of the token header': [
      ['x-api-key'],
      [
        ['x-api-key', TOKEN],
        ['x-api-key', TOKEN],
      ],
    ],
    'two bearer tokens beside a good key': [
      ['authorization'],
      [bearer(TOKEN), bearer(TOKEN), ['x-api-key', TOKEN]],
    ],
    'a malformed authorization beside a good key': [
      ['authorization'],
      [
        ['authorization', 'Bearer'],
        ['x-api-key', TOKEN],
      ],
    ],
    'a scheme in the token header': [['x-api-key'], [['x-api-key', `Bearer ${TOKEN}`]]],
    'another spelling of the token header': [
      ['authorization', 'x-api-key', 'x-acme-key', 'cookie', 'x-signature'],
      [['x_api_key', TOKEN]],
    ],
    'a bearer token in the header of a plugin': [['x-acme-key'], [['x-acme-key', TOKEN]]],
    'an invalid cookie': [['cookie'], [['cookie', 'acme=other']]],
  };
  for (const [title, [fields, headers]] of Object.entries(DENIED)) {
    it(`answers 401 to ${title}, with every challenge`, async () => {
      const response = await send(headers);
      expect(response.status).to.equal(401);
      expect(headerValues(response.headers, 'www-authenticate')).to.deep.equal([
        'Bearer',
        'ApiKey realm="acme"',
        'Session',
      ]);
      const problem = parseJson(response);
      const errors = problem['errors'] as readonly { readonly field: string }[];
      expect(errors.map(({ field }) => field)).to.deep.equal(fields);
      expect(problem['next_actions']).to.deep.equal([
        'send valid credentials in one of these headers: authorization, x-api-key, x-acme-key, cookie, x-signature',
      ]);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('asks an authenticator only for a request with one of its headers', async () => {
    const hasLogged = (value: string) =>
      setup.host.logs().some((line) => String(line['seen']) === value);
    await send([
      ['cookie', 'acme=other'],
      ['x-seen', 'cookie'],
    ]);
    await send([
      ['x-acme-key', KEY],
      ['x-seen', 'key'],
    ]);
    await waitUntil('the question', () => hasLogged('key'));
    expect(hasLogged('cookie')).to.equal(false);
  });

  it('passes method, raw target and all headers, in lower case and as sent', async () => {
    const headers: RawHeader[] = [
      ['X-Acme-Key', KEY],
      ['X-Seen', 'two'],
      ['x-seen', 'one'],
      ['Cookie', 'modgate=own'],
    ];
    await send(headers, { method: 'HEAD', target: `${TARGET}?a=%41&b` });
    const find = () => setup.host.logs().find((line) => String(line['seen']) === 'two,one');
    await waitUntil('the question', () => find() !== undefined);
    expect(find()).to.deep.include({
      method: 'HEAD',
      target: `${TARGET}?a=%41&b`,
      names: ['host', 'connection', 'x-acme-key', 'x-seen'],
      seen: ['two', 'one'],
    });
  });

  describe('that cover the body', () => {
    const post = (signed: string, sent: string) =>
      send([JSON_TYPE, sign('POST', TARGET, signed)], { method: 'POST', body: Buffer.from(sent) });

    it('are accepted with that body', async () => {
      expect((await post('{"a":1}', '{"a":1}')).status).to.equal(200);
      expect(setup.provider.only().body.toString()).to.equal('{"a":1}');
    });

    it('are 401 with another body, after the body policy', async () => {
      const response = await post('{"a":1}', '{"a": 1}');
      expect(response.status).to.equal(401);
      expect(parseJson(response)['errors']).to.deep.equal([
        { field: 'body', reason: 'not the body that the credentials cover' },
      ]);
      expect((await post('{"a":1}', '{')).status).to.equal(400);
      expect(setup.provider.requests).to.have.length(0);
    });

    it('are 401 where a body is covered and none is sent', async () => {
      expect((await send([sign('GET', TARGET, '{}')])).status).to.equal(401);
      expect((await send([sign('DELETE', TARGET, '{}')], { method: 'DELETE' })).status).to.equal(
        401,
      );
      expect((await send([sign('DELETE', TARGET, '')], { method: 'DELETE' })).status).to.equal(200);
      const modules = { target: '/modules' };
      expect((await send([sign('GET', '/modules', '{}')], modules)).status).to.equal(401);
      expect((await send([sign('GET', '/modules', '')], modules)).status).to.equal(200);
    });

    it('are compared on routes of bytes, which hold such a body', async () => {
      const put = (signed: string, sent: string) =>
        send([['content-type', 'image/png'], sign('PUT', FILES_TARGET, signed)], {
          ...{ method: 'PUT', target: FILES_TARGET, body: Buffer.from(sent) },
        });
      expect((await put('no JSON', 'no JSON')).status).to.equal(200);
      const { body, headers } = setup.provider.only();
      expect(body.toString()).to.equal('no JSON');
      expect(headerValue(headers, 'content-type')).to.equal('image/png');
      expect((await put('no JSON', 'no json')).status).to.equal(401);
      const long = 'x'.repeat(1001);
      expect((await put(long, long)).status).to.equal(400);
      expect(setup.provider.requests).to.have.length(1);
    });

    it('are compared with bytes beside JSON, which no schema covers', async () => {
      const post = (type: string, signed: string, sent: string) =>
        send([['content-type', type], sign('POST', FILES_TARGET, signed)], {
          ...{ method: 'POST', target: FILES_TARGET, body: Buffer.from(sent) },
        });
      expect((await post('text/plain', '[]', '[]')).status).to.equal(200);
      expect(setup.provider.only().body.toString()).to.equal('[]');
      expect((await post('text/plain', '[]', '{}')).status).to.equal(401);
      expect((await post('application/json', '[]', '[]')).status).to.equal(400);
    });

    it('are compared on the bridge too', async () => {
      const target = '/modules/crm/http/console-bridge/crm.read';
      const body = JSON.stringify({
        moduleReleaseDigest: `sha256:${'0'.repeat(64)}`,
        uiArtifactDigest: `sha256:${'0'.repeat(64)}`,
        permission: 'crm.read',
        payload: { operation: 'modules_metadata' },
      });
      const request = { method: 'POST', target, body: Buffer.from(body) };
      expect((await send([JSON_TYPE, sign('POST', target, body)], request)).status).to.equal(403);
      expect((await send([JSON_TYPE, sign('POST', target, '{}')], request)).status).to.equal(401);
    });
  });

  it('rejects a descriptor that forwards one of the headers, in any spelling', async () => {
    const response = await send([bearer(TOKEN)], { target: '/modules/leaky/http/items' });
    expect(response.status).to.equal(404);
    const { modules } = parseJson(await send([bearer(TOKEN)], { target: '/modules' })) as {
      readonly modules: readonly { readonly name: string; readonly reason: string }[];
    };
    expect(modules.find(({ name }) => name === 'leaky')?.reason).to.include(
      'this header holds credentials of callers, which are never forwarded',
    );
  });

  it('leaves no credentials in the log', async () => {
    setup.expectSilent();
  });

  it('lists only the challenges of configured authenticators', async () => {
    const basic = await start(writeConfig('basic.yaml', 'authenticators: [acme-basic]'));
    try {
      const denied = await call(basic, { target: TARGET, as: null });
      expect(denied.status).to.equal(401);
      expect(headerValues(denied.headers, 'www-authenticate')).to.deep.equal([
        'Basic realm="acme"',
      ]);
      expect(denied.body.toString()).not.to.match(/bearer/i);
      const headers: RawHeader[] = [['authorization', 'Basic YTpi']];
      expect((await call(basic, { target: TARGET, as: null, headers })).status).to.equal(200);
    } finally {
      await basic.stop();
    }
  });

  it('prevents a start with an authenticator that reads a header of the host', async () => {
    const config = writeConfig('rejected.yaml', 'authenticators: [bad-reads]');
    const error = await start(config).then(
      () => null,
      (reason: Error) => reason.message,
    );
    expect(error).to.include(
      "authenticator 'bad-reads' cannot be used: 'reads[0]' must not be a header with another meaning",
    );
  });
});
