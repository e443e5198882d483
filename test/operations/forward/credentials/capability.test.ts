import { expect } from 'chai';
import { call, parseJson } from '../../../support/http/call.js';
import { expectProblem } from '../../../support/http/expect-problem.js';
import { describeModule } from '../../../support/http/modules.js';
import { useHost } from '../../../support/http/use-host.js';

const PASSES = [
  'dev-service:probe:crm.read',
  'dev-service:probe:other,crm.read,more',
  'dev-user:ann:console.admin,crm.read',
  'dev-user:ann:crm.read,console.admin',
  'dev-system:root',
];
const LACKS = [
  'dev-service:probe',
  'dev-service:probe:crm.rea',
  'dev-service:probe:crm.readx',
  'dev-service:probe:crm.read.x',
  'dev-service:probe:crm',
  'dev-service:probe:crm.',
  'dev-service:probe:crm.*',
  'dev-service:probe:crm.rea?',
  'dev-service:probe:*',
  'dev-service:probe:.*',
  'dev-service:probe:CRM.READ',
  'dev-service:probe:Crm.Read',
  'dev-service:probe:crm-read',
  'dev-service:probe:crm.write',
  'dev-service:probe:console.admin',
  'dev-service:probe:system',
  'dev-user:ann:console.admin',
  'dev-user:ann:console.admin,crm.*',
  'dev-user:ann:console.admin,CRM.READ',
];

describe('capabilities', () => {
  const setup = useHost((provider) => ({
    'crm.json': describeModule('crm', provider.url, [
      { method: 'GET', path: '/items', capability: 'crm.read' },
      { method: 'GET', path: '/closed' },
      { method: 'DELETE', path: '/closed' },
      { method: 'GET', path: '/written', capability: 'crm.write' },
    ]),
  }));

  for (const as of PASSES) {
    it(`allows ${as}`, async () => {
      const response = await call(setup.host, { target: '/modules/crm/http/items', as });
      expect(response.status).to.equal(200);
      expect(parseJson(response)['capability']).to.equal('crm.read');
      expect(setup.provider.requests).to.have.length(1);
    });
  }

  for (const as of LACKS) {
    it(`denies ${as}`, async () => {
      const response = await call(setup.host, { target: '/modules/crm/http/items', as });
      const problem = expectProblem(response, 403);
      expect(problem.next_actions?.join('\n') ?? '').to.include('crm.read');
      expect(setup.provider.requests).to.have.length(0);
    });
  }

  for (const as of [
    'dev-system:root',
    'dev-service:probe:crm.read,crm.write,undefined,null',
    'dev-user:ann:console.admin,crm.read',
  ]) {
    it(`denies ${as} on a route without a capability`, async () => {
      for (const method of ['GET', 'HEAD', 'DELETE']) {
        const response = await call(setup.host, {
          method,
          target: '/modules/crm/http/closed',
          as,
        });
        if (method === 'HEAD') expect(response.status).to.equal(403);
        else expectProblem(response, 403);
      }
      expect(setup.provider.requests).to.have.length(0);
    });
  }
});
