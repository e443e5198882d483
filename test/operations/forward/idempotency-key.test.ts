import { expect } from 'chai';
import type { RawHeader } from '../../../core/selftest/raw-http.js';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';

const operation = { idempotency: 'requires_key' };
const ROUTES = [
  { method: 'POST', path: '/orders', capability: 'crm.read', operation },
  { method: 'DELETE', path: '/orders', capability: 'crm.locked', operation },
  { method: 'PATCH', path: '/orders', capability: 'crm.read' },
];
const TARGET = '/modules/keyed/http/orders';

describe('idempotency: requires_key', () => {
  const setup = useHost((provider) => ({
    'keyed.json': describeModule('keyed', provider.url, ROUTES),
    'limited.json': describeModule('limited', provider.url, ROUTES, {
      rate: { per_second: 0.001, burst: 1 },
    }),
  }));
  const post = (headers: readonly RawHeader[], overrides: object = {}) =>
    call(setup.host, {
      method: 'POST',
      target: TARGET,
      headers: [...headers, JSON_TYPE],
      body: Buffer.from('{}'),
      ...overrides,
    });
  const key = (value: string): RawHeader => ['idempotency-key', value];

  for (const [title, headers] of [
    ['no key', []],
    ['an empty key', [key('')]],
    ['a key of 256 characters', [key('k'.repeat(256))]],
    ['a key with a space', [key('a b')]],
    ['a key beyond ASCII', [key('\xe9')]],
    ['two keys', [key('a'), key('a')]],
    ['a key that connection declares hop-by-hop', [key('a'), ['connection', 'idempotency-key']]],
  ] satisfies [string, RawHeader[]][]) {
    it(`rejects ${title} without a call`, async () => {
      const problem = expectProblem(await post(headers), 400, 'validation_failed');
      expect(problem.errors.map(({ field }) => field)).to.deep.equal(['idempotency-key']);
      expect(setup.provider.requests).to.deep.equal([]);
    });
  }

  for (const value of ['k', 'k'.repeat(255), '"8e03978e-40d5-43e8-bc93-6894a57f9324"']) {
    it(`forwards a key of ${value.length} characters`, async () => {
      expect((await post([key(value)])).status).to.equal(200);
      const { headers } = setup.provider.only();
      expect(headers.find(([name]) => name.toLowerCase() === 'idempotency-key')?.[1]).to.equal(
        value,
      );
    });
  }

  it('is checked after the capability and the rate, and before the body', async () => {
    const denied = await call(setup.host, {
      method: 'DELETE',
      target: TARGET,
      as: 'dev-service:demo:crm.read',
    });
    expectProblem(denied, 403, 'forbidden');
    const unread = await post([], { body: Buffer.from('no JSON') });
    const problem = expectProblem(unread, 400, 'validation_failed');
    expect(problem.errors[0]?.field).to.equal('idempotency-key');
    const target = '/modules/limited/http/orders';
    expectProblem(await post([], { target }), 400, 'validation_failed');
    expectProblem(await post([], { target }), 429, 'rate_limited');
  });

  it('is a step of explain where the route requires it', async () => {
    const stepsOf = async (method: string) => {
      const target = `/explain?method=${method}&target=${TARGET}`;
      const { checks } = parseJson(await call(setup.host, { target })) as {
        checks: { check: string; outcome: string }[];
      };
      return checks.map(({ check, outcome }) => `${check} ${outcome}`);
    };
    const steps = await stepsOf('POST');
    const at = steps.indexOf('idempotency-key unknown');
    expect(at).to.be.above(steps.indexOf('capability pass'));
    expect(at).to.be.below(steps.indexOf('body unknown'));
    expect((await stepsOf('PATCH')).join()).not.to.include('idempotency-key');
  });

  it('concerns no other route', async () => {
    expect((await post([], { method: 'PATCH' })).status).to.equal(200);
  });
});
