import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { headerValue, type RawHeader } from '../../core/selftest/raw-http.js';
import { call, JSON_TYPE } from '../support/http/call.js';
import { describeWideModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { startProvider } from '../support/provider.js';
import { startHost } from '../support/start-host.js';

const AS = 'dev-service:billing:wide.use,other.scope';
const BOUNDS: Readonly<Record<string, readonly [patterns: string[], learned: string]>> = {
  none: [[], ''],
  exact: [['wide.use', 'unknown'], 'wide.use'],
  prefix: [['wide.*'], 'wide.use'],
  all: [['*'], 'wide.use other.scope'],
  literal: [['wid*.use', 'wide'], ''],
};
const CLAIMS = ['iss', 'aud', 'sub', 'scope', 'request_id', 'jti', 'iat', 'exp'];

describe('modgate-identity', () => {
  const setup = useHost((provider) => ({
    'crm.json': { ...describeWideModule('acme/crm', provider.url, { identity: true }) },
    'plain.json': describeWideModule('plain', provider.url),
    ...Object.fromEntries(
      Object.entries(BOUNDS).map(([name, [scopes]]) => {
        const bounded = describeWideModule(name, provider.url, { identity: { scopes } });
        const { manifest } = bounded as { manifest: { inline: object } };
        Object.assign(manifest.inline, { capabilities: ['wide.use', 'wide.admin', 'other.scope'] });
        return [`${name}.json`, bounded];
      }),
    ),
  }));
  const readKeys = async () => {
    const response = await call(setup.host, { target: '/.well-known/jwks.json', as: null });
    expect(response.status).to.equal(200);
    expect(headerValue(response.headers, 'content-type')).to.equal('application/json');
    return JSON.parse(response.body.toString()) as JSONWebKeySet;
  };
  const send = async (module: string, headers: readonly RawHeader[] = []) => {
    setup.provider.reset();
    const target = `/modules/${module}/http/items`;
    const response = await call(setup.host, { target, as: AS, headers });
    expect(response.status, response.body.toString()).to.equal(200);
    return setup.provider.only().headers;
  };

  it('identifies the caller in a token that the published keys verify', async () => {
    const headers = await send('acme%2Fcrm', [['x-request-id', 'my-request']]);
    const token = headerValue(headers, 'modgate-identity') ?? '';
    const { payload } = await jwtVerify(token, createLocalJWKSet(await readKeys()), {
      issuer: 'modgate',
      audience: 'acme/crm',
      algorithms: ['EdDSA'],
    });
    expect(Object.keys(payload)).to.have.members(CLAIMS);
    expect(payload).to.include({
      sub: 'service:billing',
      scope: 'wide.use',
      request_id: 'my-request',
      jti: headerValue(headers, 'modgate-call-id'),
    });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).to.equal(30);
    expect(Math.abs(Date.now() / 1000 - (payload.iat ?? 0))).to.be.below(10);
  });

  for (const [name, [patterns, learned]] of Object.entries(BOUNDS)) {
    it(`holds scopes within the bounds of the descriptor: ${patterns.join(' ')}`, async () => {
      const token = headerValue(await send(name), 'modgate-identity') ?? '';
      const { payload } = await jwtVerify(token, createLocalJWKSet(await readKeys()));
      expect(payload['scope']).to.equal(learned);
    });
  }

  it('is shown with the scopes that the provider learns, and those of other modules', async () => {
    const response = await call(setup.host, { target: '/modules' });
    const { modules } = JSON.parse(response.body.toString()) as {
      modules: readonly { readonly name: string; readonly identity?: object }[];
    };
    const identityOf = (name: string) => modules.find((module) => module.name === name)?.identity;
    expect(identityOf('plain')).to.equal(undefined);
    expect(identityOf('prefix')).to.deep.equal({
      scopes: ['wide.use', 'wide.admin'],
      shared: ['wide.use', 'wide.admin'],
    });
    expect(identityOf('none')).to.deep.equal({ scopes: [], shared: [] });
  });

  it('is new for each call', async () => {
    const tokens = [await send('acme%2Fcrm'), await send('acme%2Fcrm')].map((headers) =>
      headerValue(headers, 'modgate-identity'),
    );
    expect(tokens[0]).to.be.a('string').and.not.equal(tokens[1]);
  });

  it('is sent once, and replaces any value of the client', async () => {
    const spoofed: RawHeader[] = [
      ['modgate-identity', 'spoofed'],
      ['Modgate-Identity', 'spoofed'],
      ['modgate_identity', 'spoofed'],
    ];
    for (const [module, count] of [
      ['acme%2Fcrm', 1],
      ['plain', 0],
    ] as const) {
      const headers = await send(module, spoofed);
      const identityHeaders = headers.filter(([name]) => /^modgate.identity$/i.test(name));
      expect(identityHeaders, module).to.have.length(count);
      expect(JSON.stringify(headers)).not.to.include('spoofed');
    }
  });

  it('is also sent with writes', async () => {
    setup.provider.reset();
    await call(setup.host, {
      method: 'POST',
      target: '/modules/acme%2Fcrm/http/items',
      headers: [JSON_TYPE],
      body: Buffer.from('{}'),
    });
    expect(headerValue(setup.provider.only().headers, 'modgate-identity')).to.match(/^eyJ/);
  });

  it('is shown by explain without its value', async () => {
    const path = encodeURIComponent('/modules/acme%2Fcrm/http/items');
    const response = await call(setup.host, { target: `/explain?method=GET&target=${path}` });
    const { headers } = JSON.parse(response.body.toString());
    const header = headers.find(({ name }: { name: string }) => name === 'modgate-identity');
    expect(header).to.deep.equal({ name: 'modgate-identity', value: null, from: 'host' });
  });

  it('publishes only public keys', async () => {
    const { keys } = await readKeys();
    expect(keys).to.have.length(1);
    expect(keys[0]).to.have.all.keys('kty', 'crv', 'x', 'kid', 'alg', 'use');
  });

  it('stores its keys where other users cannot read them', () => {
    const file = join(setup.host.directory, 'state', 'identity', 'keys.json');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const { keys } = JSON.parse(readFileSync(file, 'utf8'));
    expect(setup.host.output()).not.to.include(keys[0].jwk.d);
  });

  it('rejects other methods on the route of the keys', async () => {
    const response = await call(setup.host, {
      method: 'POST',
      target: '/.well-known/jwks.json',
      as: null,
    });
    expect(response.status).to.equal(405);
  });
});

describe('identity keys', () => {
  it('are not created for a host that signs nothing', async () => {
    const host = await startHost();
    try {
      const response = await call(host, { target: '/.well-known/jwks.json', as: null });
      expect(response.body.toString()).to.equal('{"keys":[]}');
      expect(() => statSync(join(host.directory, 'state', 'identity'))).to.throw(/ENOENT/);
    } finally {
      await host.stop();
    }
  });

  it('are used for a provider behind a Unix socket', async () => {
    const host = await startHost();
    const socketPath = join(host.directory, 'provider.sock');
    const upstream = await startProvider(undefined, { socketPath });
    try {
      host.drop('sock.json', {
        ...describeWideModule('sock', 'http://unused'),
        provider: { kind: 'unix', config: { socket: socketPath } },
        identity: true,
      });
      const { waitUntil } = await import('../support/http/wait-until.js');
      const send = () => call(host, { target: '/modules/sock/http/a' });
      await waitUntil('the module', async () => (await send()).status === 200);
      const token = String(upstream.requests[0]?.headers['modgate-identity']);
      expect(decodeProtectedHeader(token)).to.include({ alg: 'EdDSA', typ: 'JWT' });
    } finally {
      await upstream.stop();
      await host.stop();
    }
  });
});
