import { expect } from 'chai';
import { headerValue, type RawHeader } from '../../../core/selftest/raw-http.js';
import { type Call, call, parseJson } from '../../support/http/call.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { postMcp, REVISIONS } from '../../support/mcp/mcp-call.js';

const APP = 'https://app.example';
const OTHER = 'https://other.example';
const METADATA = '/.well-known/oauth-protected-resource';
const ROUTES = [{ method: 'GET', path: '/items', capability: 'shop.use' }];
const HEADERS =
  'authorization, content-type, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id';

const preflight = (origin: string, method = 'POST'): RawHeader[] => [
  ['origin', origin],
  ['access-control-request-method', method],
  ['access-control-request-headers', HEADERS],
];

const listNames = (headers: readonly RawHeader[], name: string) =>
  (headerValue(headers, name) ?? '').split(', ');

describe('mcp for pages of other origins', () => {
  const setup = useHost(
    ({ url }) => ({ 'shop.json': describeModule('shop', url, ROUTES, { mcp: { expose: 'all' } }) }),
    { args: ['--surfaces', 'mcp', '--cors', APP] },
  );
  const ask = (target: string, origin: string, method?: string) =>
    call(setup.host, {
      ...{ method: 'OPTIONS', target, as: null },
      headers: preflight(origin, method),
    });
  const expectNoAccess = (headers: readonly RawHeader[]) => {
    const added = headers.filter(([name]) => name.startsWith('access-control-'));
    expect(added).to.deep.equal([]);
  };

  for (const target of ['/mcp', '/mcp/shop', '/mcp?a=1']) {
    it(`answers a preflight of a listed origin: ${target}`, async () => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, headers } = await ask(target, APP, method);
        expect(status).to.equal(204);
        expect(headerValue(headers, 'access-control-allow-origin')).to.equal(APP);
        expect(headerValue(headers, 'access-control-allow-methods')).to.equal('GET, POST, DELETE');
        expect(listNames(headers, 'access-control-allow-headers')).to.include.members(
          HEADERS.split(', '),
        );
      }
    });
  }

  it('serves a listed origin in each revision, and lets its pages read the headers', async () => {
    for (const revision of REVISIONS) {
      const headers: RawHeader[] = [['origin', APP]];
      const response = await postMcp(setup.host, { method: 'tools/list', revision, headers });
      expect(response.status).to.equal(200);
      expect(headerValue(response.headers, 'access-control-allow-origin')).to.equal(APP);
      expect(listNames(response.headers, 'vary')).to.include('origin');
      expect(listNames(response.headers, 'access-control-expose-headers')).to.include.members([
        ...['www-authenticate', 'mcp-session-id', 'x-request-id', 'retry-after'],
      ]);
    }
  });

  it('lets pages of a listed origin read errors', async () => {
    const headers: RawHeader[] = [['origin', APP]];
    const denied = await postMcp(setup.host, { method: 'tools/list', as: null, headers });
    expect(denied.status).to.equal(401);
    const other = await call(setup.host, { target: '/mcp', headers });
    expectProblem(other, 405);
    for (const response of [denied, other]) {
      expect(headerValue(response.headers, 'access-control-allow-origin')).to.equal(APP);
    }
    expect(headerValue(denied.headers, 'www-authenticate')).to.include('resource_metadata=');
  });

  for (const origin of [OTHER, 'null', `${APP}.evil.example`, 'https://APP.example', '*']) {
    it(`rejects the origin ${origin}`, async () => {
      const asked = await ask('/mcp', origin);
      expect(asked.status).to.equal(401);
      const headers: RawHeader[] = [['origin', origin]];
      const response = await postMcp(setup.host, { method: 'tools/list', headers });
      const { next_actions } = expectProblem(response, 403);
      expect(String(next_actions)).to.include('list the origin of the page in cors');
      for (const { headers } of [asked, response]) expectNoAccess(headers);
    });
  }

  it('does not open other surfaces', async () => {
    for (const target of ['/docs', '/console', '/console/api/session']) {
      const asked = await ask(target, APP);
      expect(asked.status).not.to.equal(204);
      const headers: RawHeader[] = [['origin', APP]];
      const response = await call(setup.host, { target, headers });
      for (const { headers } of [asked, response]) expectNoAccess(headers);
    }
  });
});

for (const [args, what] of [
  [['--cors', APP], 'with the setting cors'],
  [[], 'without the setting cors'],
] as const) {
  describe(`metadata of RFC 9728 ${what}`, () => {
    const setup = useHost(() => ({}), { args: ['--surfaces', 'mcp', ...args] });
    const send = (partial: Partial<Call>) => call(setup.host, { target: METADATA, ...partial });

    it('is readable by pages of every origin', async () => {
      for (const target of [METADATA, `${METADATA}/mcp`]) {
        for (const origin of [APP, OTHER, 'null']) {
          const sent = { target, as: null };
          const asked = await send({
            ...{ ...sent, method: 'OPTIONS' },
            headers: preflight(origin, 'GET'),
          });
          expect(asked.status).to.equal(204);
          expect(headerValue(asked.headers, 'access-control-allow-headers')).to.equal('*');
          const response = await send({ ...sent, headers: [['origin', origin]] });
          expect(parseJson(response)).to.have.property('resource');
          for (const { headers } of [asked, response]) {
            expect(headerValue(headers, 'access-control-allow-origin')).to.equal('*');
          }
        }
      }
    });
  });
}
