import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../core/selftest/raw-http.js';
import { call } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { waitUntil } from '../support/http/wait-until.js';

const TARGET = '/modules/crm/http/items';
const HOUR_MS = 3_600_000;

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const inOneHour = () => new Date(Date.now() + HOUR_MS).toISOString();
const entry = (token: string, kind: string, scopes: readonly string[], overrides: object = {}) => ({
  id: `${kind}-1`,
  kind,
  scopes,
  sha256: sha256(token),
  ...overrides,
});

const TOKENS = [
  entry('service-token', 'service', ['crm.read']),
  entry('user-token', 'user', ['console.admin', 'crm.read']),
  entry('plain-user-token', 'user', ['crm.read']),
  entry('system-token', 'system', []),
  entry('lacking-token', 'service', ['crm.write']),
  entry('expired-token', 'service', ['crm.read'], { expires_at: '2020-01-01T00:00:00Z' }),
  entry('fresh-token', 'service', ['crm.read'], { expires_at: inOneHour() }),
  entry('tökén', 'service', ['crm.read']),
];

describe('dev tokens beside a tokens file', () => {
  const setup = useHost(
    (provider) => ({
      'crm.json': describeModule('crm', provider.url, [
        { method: 'GET', path: '/items', capability: 'crm.read' },
      ]),
    }),
    { tokens: { tokens: TOKENS } },
  );

  it('authenticate their callers and reject everything else', async () => {
    for (const [as, status] of [
      ['dev-system:root', 200],
      ['service-token', 200],
      ['expired-token', 401],
      ['unknown', 401],
    ] as const) {
      expect((await call(setup.host, { target: TARGET, as })).status, as).to.equal(status);
    }
  });
});

describe('tokens file', () => {
  const setup = useHost(
    (provider) => ({
      'crm.json': describeModule('crm', provider.url, [
        { method: 'GET', path: '/items', capability: 'crm.read' },
      ]),
    }),
    { dev: false, tokens: { tokens: TOKENS } },
  );
  const get = (as: string) => call(setup.host, { target: TARGET, as });

  for (const [token, actor] of [
    ['service-token', 'service:service-1'],
    ['user-token', 'user:user-1'],
    ['system-token', 'system:system-1'],
    ['fresh-token', 'service:service-1'],
  ] as const) {
    it(`accepts ${token}`, async () => {
      expect((await get(token)).status).to.equal(200);
      const actorHeader = headerValue(setup.provider.only().headers, 'modgate-actor');
      expect(actorHeader).to.equal(actor);
    });
  }

  it('responds with 403 to a user without console.admin and a service without the scope', async () => {
    expectProblem(await get('plain-user-token'), 403);
    expectProblem(await get('lacking-token'), 403);
  });

  for (const token of [
    'expired-token',
    'service-toke',
    'service-tokenx',
    'SERVICE-TOKEN',
    'service-token x',
    sha256('service-token'),
    'service-1',
    'dev-system:root',
    'dev-service:probe:crm.read',
    '',
  ]) {
    it(`responds with 401 to ${JSON.stringify(token)}`, async () => {
      expectProblem(await get(token), 401);
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  it('responds with 401 to two headers with the same valid token', async () => {
    const headers: RawHeader[] = [
      ['authorization', 'Bearer service-token'],
      ['authorization', 'Bearer service-token'],
    ];
    expectProblem(await call(setup.host, { target: TARGET, as: null, headers }), 401);
  });

  it('accepts a Host that is not loopback, since dev tokens are off', async () => {
    const headers: RawHeader[] = [['host', 'gateway.example.com']];
    const response = await call(setup.host, { target: TARGET, as: 'service-token', headers });
    expect(response.status).to.equal(200);
  });

  it('is reloaded when it changes and kept when the change is invalid', async () => {
    const file = join(setup.host.directory, 'tokens.json');
    const added = entry('later-token', 'service', ['crm.read']);
    writeFileSync(file, JSON.stringify({ tokens: [...TOKENS.slice(1), added] }));
    await waitUntil('the new token', async () => (await get('later-token')).status === 200);
    expectProblem(await get('service-token'), 401);

    const lines = setup.host.logs().length;
    writeFileSync(file, '{"tokens": [');
    await waitUntil('a log line about the invalid file', () =>
      setup.host
        .logs()
        .slice(lines)
        .some((line) => /warn|error/.test(String(line['level']))),
    );
    expect((await get('later-token')).status).to.equal(200);

    writeFileSync(file, JSON.stringify({ tokens: TOKENS }));
    await waitUntil('the old token', async () => (await get('service-token')).status === 200);
    expectProblem(await get('later-token'), 401);
  });

  it('never logs a token', () => {
    for (const token of ['service-token', 'later-token', sha256('service-token')]) {
      expect(setup.host.output()).not.to.include(token);
    }
  });
});
