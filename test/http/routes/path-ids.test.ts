import { expect } from 'chai';
import { call, JSON_TYPE, parseJson } from '../../support/http/call.js';
import { useHost } from '../../support/http/use-host.js';
import { postMcp } from '../../support/mcp/mcp-call.js';

const PERSON = 'dev-user:ann:modgate.approvals,modgate.releases,modgate.console.sessions';
const DIGEST = `sha256:${'a'.repeat(64)}`;

/** Ids that the host never gives: with a NUL, too long, or with characters that no id has. */
const BAD_IDS = [
  ...['%00', 'a%00b', `${DIGEST}%00`, 'apr_%00', '%7f', '%E2%80%8B', '%F0%9F%98%80', 'a%20b'],
  ...['%27', 'a%2Fb', '%25', '..%2f', 'x'.repeat(300), DIGEST.toUpperCase()],
];

const ROUTES = [
  ['GET', '/approvals/'],
  ['POST', '/approvals/'],
  ['GET', '/releases/'],
  ['GET', '/problems/'],
] as const;

describe('ids in paths of host routes', () => {
  const setup = useHost(() => ({}), { args: ['--surfaces', 'mcp'], isDescribed: false });

  for (const [method, path] of ROUTES) {
    it(`are unknown where the host never gives them: ${method} ${path}`, async () => {
      for (const id of BAD_IDS) {
        const request = { method, target: `${path}${id}`, as: PERSON, headers: [JSON_TYPE] };
        const body = method === 'POST' ? { body: Buffer.from('{"decision":"approve"}') } : {};
        const response = await call(setup.host, { ...request, ...body });
        expect(response.status, id).to.equal(404);
        if (path === '/problems/') continue;
        expect(parseJson(response)['errors'], id).to.deep.equal([
          { field: 'id', reason: 'not an id' },
        ]);
      }
    });
  }

  it('are unknown where the host has none like them', async () => {
    for (const target of ['/approvals/apr_none', `/releases/${DIGEST}`]) {
      const response = await call(setup.host, { target, as: PERSON });
      expect(response.status, target).to.equal(404);
      expect(parseJson(response)['errors']).to.deep.equal([]);
    }
  });

  it('are rejected in queries, bodies, and names of modules of agents', async () => {
    for (const query of [
      'calls?module=%00',
      'audit?module=%00',
      'fleet?serves=%00',
      'calls?host=%00',
    ]) {
      expect((await call(setup.host, { target: `/${query}` })).status, query).to.equal(400);
    }
    const post = (target: string, value: object) =>
      call(setup.host, {
        ...{ method: 'POST', target, headers: [JSON_TYPE] },
        body: Buffer.from(JSON.stringify(value)),
      });
    expect((await post('/rollback', { release: '\0' })).status).to.equal(400);
    const release = { files: {}, base: null, note: 'a\0b' };
    expect((await post('/releases', release)).status).to.equal(400);
    expect((await post('/releases', { ...release, note: '', base: '\0' })).status).to.equal(400);
    const list = await postMcp(setup.host, { method: 'tools/list', module: '\0' });
    expect(list.status).to.be.below(500);
  });
});
