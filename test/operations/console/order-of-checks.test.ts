import { expect } from 'chai';
import { headerValue } from '../../../core/selftest/raw-http.js';
import {
  askBridge,
  type BridgeAnswer,
  type BridgeCall,
  RELEASE,
  UNKNOWN_DIGEST,
} from '../../support/bridge/bridge.js';
import {
  CONFIG,
  CONFIG_READ,
  crmDescriptor,
  READ,
  SYNC,
  UNDECLARED,
  UNGRANTED,
} from '../../support/bridge/crm.js';
import { expectProblem } from '../../support/http/expect-problem.js';
import { useHost } from '../../support/http/use-host.js';

const NOT_DECLARED = 'the module does not declare the operation for this permission';

const VALID: BridgeCall = {
  permission: SYNC,
  payload: { operation: 'admin_action_invoke', action: 'sync', input: { name: 'all' } },
};

interface Fault {
  readonly title: string;
  readonly status: number;
  /** Named by `errors` or `detail` of the Problem. */
  readonly named: RegExp;
  readonly apply: (call: BridgeCall) => BridgeCall;
}

const FAULTS: readonly Fault[] = [
  {
    title: 'no actor',
    status: 401,
    named: /authentication/,
    apply: (call) => ({ ...call, token: null }),
  },
  {
    title: 'an actor without the scope',
    status: 403,
    named: /scope/,
    apply: (call) => ({ ...call, token: 'dev-service:tester:another.scope' }),
  },
  {
    title: 'an unknown field in the body',
    status: 400,
    named: /surplus/,
    apply: (call) => ({ ...call, body: { ...call.body, surplus: 1 } }),
  },
  {
    title: 'a permission that is not that of the path',
    status: 400,
    named: /permission/,
    apply: (call) => ({ ...call, body: { ...call.body, permission: 'crm.other' } }),
  },
  {
    title: 'a digest that is none',
    status: 400,
    named: /moduleReleaseDigest/,
    apply: (call) => ({ ...call, release: 'sha256:abc' }),
  },
  {
    title: 'a module that is not there',
    status: 404,
    named: /module/,
    apply: (call) => ({ ...call, module: 'nowhere' }),
  },
  {
    title: 'no grant',
    status: 403,
    named: /grant/,
    apply: (call) => ({ ...call, ui: UNKNOWN_DIGEST }),
  },
  {
    title: 'an operation that is not declared',
    status: 403,
    named: /declare/,
    apply: (call) => ({
      ...call,
      payload: { ...(call.payload as object), action: 'nothing' },
    }),
  },
  {
    title: 'an input that the action does not take',
    status: 400,
    named: /name/,
    apply: (call) => ({ ...call, payload: { ...(call.payload as object), input: {} } }),
  },
];

describe('console bridge: order of checks', () => {
  const setup = useHost(({ url }) => ({ 'crm.json': crmDescriptor(url) }));

  const ask = (call: BridgeCall) => askBridge(setup.host, call);

  function expectRejection(answer: BridgeAnswer, fault: Fault): void {
    const { detail, errors } = expectProblem(answer.response, fault.status);
    expect(`${detail} ${JSON.stringify(errors)}`).to.match(fault.named);
    expect(setup.provider.requests).to.deep.equal([]);
  }

  it('accepts the base call of these tests', async () => {
    const answer = await ask(VALID);
    expect(answer.text).to.equal('{"data":{"ok":true}}');
    expect(answer.status).to.equal(200);
    expect(headerValue(answer.response.headers, 'content-type')).to.match(/^application\/json/);
    expect(setup.provider.only().target).to.equal('/admin/sync');
  });

  for (const fault of FAULTS) {
    it(`answers ${fault.status} to ${fault.title}`, async () => {
      expectRejection(await ask(fault.apply(VALID)), fault);
    });
  }

  FAULTS.forEach((first, index) => {
    const [next, ...later] = FAULTS.slice(index + 1);
    if (next === undefined) return;

    it(`reports ${first.title} before ${next.title}`, async () => {
      const alone = await ask(first.apply(VALID));
      const response = await ask(first.apply(next.apply(VALID)));
      expectRejection(response, first);
      expect(response.problem.detail).to.equal(alone.problem.detail);
    });

    for (const last of later) {
      it(`reports ${first.title} before ${last.title}`, async () => {
        expectRejection(await ask(first.apply(last.apply(VALID))), first);
      });
    }
  });

  it('reports missing members before checking permission and digests', async () => {
    for (const missing of ['moduleReleaseDigest', 'uiArtifactDigest', 'permission', 'payload']) {
      const body = { permission: 'crm.other', moduleReleaseDigest: 'none', [missing]: undefined };
      const answer = await ask({ ...VALID, body });
      expect(answer.status, answer.text).to.equal(400);
      expect(answer.problem.errors.map(({ field }) => field)).to.include(missing);
    }
  });

  it('reports an invalid limit before checking grants', async () => {
    const payload = { operation: 'admin_data_list', entity: 'nothing', limit: 'many' };
    const answer = await ask({
      permission: READ,
      payload,
      module: 'nowhere',
      token: `dev-service:a:${READ}`,
    });
    expect(answer.status, answer.text).to.equal(400);
    expect(JSON.stringify(answer.problem.errors)).to.include('limit');
  });

  for (const field of ['moduleReleaseDigest', 'uiArtifactDigest']) {
    for (const [title, digest] of Object.entries({
      'in upper case': RELEASE.toUpperCase(),
      'with hex in upper case': `sha256:${RELEASE.slice(7).toUpperCase()}`,
      'without its name': RELEASE.slice(7),
      'one digit short': RELEASE.slice(0, -1),
      'one digit long': `${RELEASE}0`,
      'followed by a line end': `${RELEASE}\n`,
      'of another hash': RELEASE.replace('sha256', 'sha512'),
      empty: '',
    })) {
      it(`rejects a ${field} ${title}`, async () => {
        const answer = await ask({ ...VALID, body: { [field]: digest } });
        expect(answer.status, answer.text).to.equal(400);
        expect(JSON.stringify(answer.problem.errors)).to.include(field);
      });
    }

    for (const value of [null, 5, {}, []]) {
      it(`rejects ${JSON.stringify(value)} as ${field}`, async () => {
        const answer = await ask({ ...VALID, body: { [field]: value } });
        expect(answer.status, answer.text).to.equal(400);
      });
    }
  }

  it('allows a system without scopes', async () => {
    expect((await ask({ ...VALID, token: 'dev-system:tester' })).status).to.equal(200);
  });

  it('allows a user with only the scope', async () => {
    expect((await ask({ ...VALID, token: `dev-user:ada:${SYNC}` })).status).to.equal(200);
  });

  it('allows a user with only console.admin', async () => {
    expect((await ask({ ...VALID, token: 'dev-user:ada:console.admin' })).status).to.equal(200);
  });

  it('rejects a user with neither', async () => {
    const answer = await ask({ ...VALID, token: `dev-user:ada:${READ}` });
    expect(answer.status).to.equal(403);
  });

  it('gives a service no permission for console.admin', async () => {
    const answer = await ask({ ...VALID, token: 'dev-service:tester:console.admin' });
    expect(answer.status).to.equal(403);
  });

  for (const scope of ['crm.contacts', 'crm.*', 'crm.contacts.sync.all', 'CRM.CONTACTS.SYNC']) {
    it(`rejects the similar scope ${scope}`, async () => {
      expect((await ask({ ...VALID, token: `dev-service:tester:${scope}` })).status).to.equal(403);
    });
  }

  it('rejects an invalid token', async () => {
    const answer = await ask({ ...VALID, token: 'unknown' });
    expect(answer.status).to.equal(401);
  });

  describe('operations that are not declared for a permission', () => {
    const cases: readonly (readonly [title: string, permission: string, payload: object])[] = [
      ['an entity of no module', READ, { operation: 'admin_data_list', entity: 'nothing' }],
      ['an entity of another capability', READ, { operation: 'admin_data_list', entity: 'deals' }],
      [
        'an entity by a capability of an action',
        SYNC,
        { operation: 'admin_data_list', entity: 'contacts' },
      ],
      [
        'an action of another capability',
        SYNC,
        { operation: 'admin_action_invoke', action: 'close' },
      ],
      [
        'an action by a capability of an entity',
        READ,
        { operation: 'admin_action_invoke', action: 'ping' },
      ],
      [
        'an entity named like a member of objects',
        READ,
        { operation: 'admin_data_list', entity: 'constructor' },
      ],
      [
        'an action named like a member of objects',
        SYNC,
        { operation: 'admin_action_invoke', action: '__proto__' },
      ],
      [
        'config values by a permission outside the capabilities',
        UNDECLARED,
        { operation: 'config_values' },
      ],
      [
        'a write by a permission outside the capabilities',
        UNDECLARED,
        { operation: 'config_write', service: 'crm', key: 'page_size', value: 5 },
      ],
      ['config values by a capability of an entity', READ, { operation: 'config_values' }],
      ['config values by a capability of an action', SYNC, { operation: 'config_values' }],
      [
        'a write by a capability of an action',
        SYNC,
        { operation: 'config_write', service: 'crm', key: 'page_size', value: 5 },
      ],
      [
        'a write of a secret by a capability of an entity',
        READ,
        { operation: 'config_write', service: 'crm', key: 'api_key', value: 'x' },
      ],
      [
        'a write by the capability that reads the configuration',
        CONFIG_READ,
        { operation: 'config_write', service: 'crm', key: 'page_size', value: 5 },
      ],
      [
        'a write of an unknown field',
        CONFIG,
        { operation: 'config_write', service: 'crm', key: 'nothing', value: 5 },
      ],
      [
        'a write of a field of another service',
        CONFIG,
        { operation: 'config_write', service: 'cms', key: 'page_size', value: 5 },
      ],
      [
        'a write of a field that is not editable',
        CONFIG,
        { operation: 'config_write', service: 'crm', key: 'fixed', value: 'x' },
      ],
      [
        'contributions by a permission outside the capabilities',
        UNDECLARED,
        { operation: 'contributions_resolve', target: 'x' },
      ],
      [
        'metadata by a permission outside the capabilities',
        UNDECLARED,
        { operation: 'modules_metadata' },
      ],
    ];
    for (const [title, permission, payload] of cases) {
      it(`rejects ${title}, for every caller`, async () => {
        for (const token of [undefined, 'dev-system:root', 'dev-user:ada:console.admin']) {
          const answer = await ask({ permission, payload, ...(token && { token }) });
          expect(answer.status, answer.text).to.equal(403);
          expect(answer.problem.code).to.equal('forbidden');
          expect(answer.problem.detail).to.equal(NOT_DECLARED);
        }
        expect(setup.provider.requests).to.deep.equal([]);
      });
    }

    it('reports in detail whether the grant or the declaration is missing', async () => {
      const payload = { operation: 'modules_metadata' };
      const ungranted = await ask({ permission: UNGRANTED, payload });
      const undeclared = await ask({ permission: UNDECLARED, payload });
      expect([ungranted.status, undeclared.status]).to.deep.equal([403, 403]);
      expect(ungranted.problem.detail).to.not.equal(undeclared.problem.detail);
    });

    it('accepts any capability of the module for modules_metadata', async () => {
      for (const permission of [READ, SYNC, CONFIG]) {
        const answer = await ask({ permission, payload: { operation: 'modules_metadata' } });
        expect(answer.status, answer.text).to.equal(200);
      }
    });

    it('accepts the two capabilities of the configuration for config_values', async () => {
      for (const permission of [CONFIG_READ, CONFIG]) {
        const answer = await ask({ permission, payload: { operation: 'config_values' } });
        expect(answer.status, answer.text).to.equal(200);
      }
    });
  });
});
