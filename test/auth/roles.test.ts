import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { headerValue } from '../../core/selftest/raw-http.js';
import { startEchoProvider } from '../support/echo-provider.js';
import { createSigningKey, ISSUER, type SigningKey, signToken } from '../support/fake-issuer.js';
import { call, parseJson } from '../support/http/call.js';
import { expectProblem } from '../support/http/expect-problem.js';
import { describeModule } from '../support/http/modules.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startProvider } from '../support/provider.js';
import { startHostProcess } from '../support/start-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const READ = '/modules/crm/http/items';
const LOCKED = '/modules/crm/http/locked';
const MANY = Array.from({ length: 100 }, (_, index) => `crm.${'x'.repeat(40)}.${index}`);

const ROLES = {
  reader: { scopes: ['crm.read', 'other.scope'] },
  support: { roles: ['reader'] },
  admin: { scopes: ['crm.locked', 'modgate.explain'] },
  everything: { scopes: MANY, roles: ['reader'] },
};

const IDS: Readonly<Record<string, readonly string[] | undefined>> = {
  agent: ['support'],
  nobody: ['supportt', '__proto__', 'constructor'],
  plain: undefined,
  ops: ['admin'],
  greedy: ['everything'],
};

const describeToken = (id: string) => ({
  id,
  kind: 'service',
  scopes: [],
  ...(IDS[id] !== undefined && { roles: IDS[id] }),
  sha256: createHash('sha256').update(`token-${id}`).digest('hex'),
});

const MAPPING = {
  kind: 'service',
  roles: ['groups', 'realm_access.roles'],
  role_values: { '5f2c9d': 'support', 'Domain Admins': 'admin' },
  allowed_scopes: ['crm.read'],
};

describe('roles', () => {
  let key: SigningKey;
  let introspected: object = {};

  const write = (name: string, value: object) =>
    writeFileSync(join(folder, name), JSON.stringify(value));
  const get = (as: string, target = READ) => call(host, { target, as });
  const statusOf = async (as: string, target = READ) => (await get(as, target)).status;
  const expectStatus = (as: string, status: number, target = READ) =>
    waitUntil(`${as} gets ${status}`, async () => (await statusOf(as, target)) === status);
  const explain = async (as: string, target = READ) => {
    const path = `/explain?method=GET&target=${encodeURIComponent(target)}`;
    const explained = await call(host, {
      target: path,
      as: 'token-ops',
      headers: [['modgate-explain-as', as]],
    });
    expect(explained.status, explained.body.toString()).to.equal(200);
    return JSON.parse(explained.body.toString());
  };

  const folder = createFolder();
  const provider = use(async () => {
    key = await createSigningKey('first');
    return startEchoProvider();
  });
  const introspection = use(() =>
    startProvider((_request, response) => {
      response.end(JSON.stringify({ active: true, sub: 'opaque', ...introspected }));
    }),
  );
  const host = use(() => {
    write('roles.json', { roles: ROLES });
    write('jwks.json', { keys: [key.jwk] });
    write('issuers.json', {
      issuers: [
        {
          issuer: ISSUER,
          audience: 'modgate',
          algorithms: ['RS256'],
          jwks: { file: './jwks.json' },
          actor: MAPPING,
        },
      ],
      introspection: [
        {
          name: 'opaque',
          url: introspection.url,
          client_id: 'modgate',
          client_secret: 'env:SECRET',
          cache_seconds: 0,
          actor: { kind: 'service', roles: ['roles'], allowed_roles: ['support'] },
        },
      ],
    });
    const path = (name: string) => join(folder, name);
    return startHostProcess({
      dev: false,
      env: { SECRET: 'x' },
      tokens: { tokens: Object.keys(IDS).map(describeToken) },
      args: [
        ...['--roles', path('roles.json'), '--issuers', path('issuers.json'), '--workers', '2'],
      ],
      files: {
        'crm.json': describeModule(
          'crm',
          provider.url,
          [
            { method: 'GET', path: '/items', capability: 'crm.read' },
            { method: 'GET', path: '/locked', capability: 'crm.locked' },
            ...MANY.map((capability) => ({ method: 'GET', path: `/${capability}`, capability })),
          ],
          { identity: true },
        ),
      },
    });
  });

  beforeEach(() => provider.reset());

  it('give an entry of the tokens file their scopes, and no others', async () => {
    expect(await statusOf('token-agent')).to.equal(200);
    expect(await statusOf('token-agent', LOCKED)).to.equal(403);
    expect(await statusOf('token-plain')).to.equal(403);
  });

  it('give nothing if the file does not have them, and are then logged once', async () => {
    expect(await statusOf('token-nobody')).to.equal(403);
    await statusOf('token-nobody');
    const listLines = () => host.logs().filter(({ msg }) => msg === 'unknown roles ignored');
    await waitUntil('a line about the names', () => listLines().length > 0);
    const lines = listLines();
    // One line for each worker at most.
    expect(lines).to.have.length.within(1, 2);
    const roles = ['supportt', '__proto__', 'constructor'];
    expect(lines[0]).to.deep.include({ authenticator: 'tokens', roles });
  });

  it('come from claims of signed tokens by role_values, within allowed_scopes', async () => {
    const sign = (claims: object) => signToken(key, { scope: undefined, ...claims });
    expect(await statusOf(await sign({ groups: ['5f2c9d'] }))).to.equal(200);
    expect(await statusOf(await sign({ realm_access: { roles: ['5f2c9d'] } }))).to.equal(200);
    expect(await statusOf(await sign({ groups: 'x 5f2c9d' }))).to.equal(200);
    // A claim cannot name a role itself where role_values are listed.
    expect(await statusOf(await sign({ groups: ['support'] }))).to.equal(403);
    expect(await statusOf(await sign({ roles: ['5f2c9d'] }))).to.equal(403);
    // A text is split at spaces, an entry of a list is not; allowed_scopes bounds what the role adds.
    const admin = await sign({ groups: ['Domain Admins'] });
    expect(await statusOf(admin, LOCKED)).to.equal(403);
    expect((await explain(admin, LOCKED)).actor.roles).to.deep.equal(['admin']);
    expect((await explain(await sign({ groups: 'Domain Admins' }))).actor).to.not.have.key('roles');
    expectProblem(await get(await sign({ groups: [{ id: '5f2c9d' }] })), 401);
  });

  it('come from introspected tokens within allowed_roles', async () => {
    introspected = { roles: ['support', 'admin'] };
    await expectStatus('opaque-1', 200);
    await expectStatus('opaque-1', 403, LOCKED);
    introspected = { roles: ['reader'] };
    await expectStatus('opaque-2', 403);
  });

  it('are named by explain, with the one that has the scope', async () => {
    const { actor, checks } = await explain('token-agent');
    expect(actor).to.deep.include({ roles: ['support'], scopes: ['crm.read', 'other.scope'] });
    const capability = checks.find(({ check }: { check: string }) => check === 'capability');
    expect(capability.detail).to.equal(
      'crm.read: the actor has it by its role support, through reader',
    );
  });

  it('are named to operators, and not to the caller, if they have a missing scope', async () => {
    const problem = await get('token-agent', LOCKED);
    expectProblem(problem, 403);
    expect(problem.body.toString()).not.to.include('admin');
    const { checks } = await explain('token-agent', LOCKED);
    const capability = checks.find(({ check }: { check: string }) => check === 'capability');
    expect(capability.next_actions).to.include(
      'or give the actor one of the roles that have it: admin',
    );
    const id = headerValue(problem.headers, 'x-request-id');
    await waitUntil('the line of the request', () =>
      host.logs().some((line) => line['request_id'] === id && line['roles'] === 'admin'),
    );
  });

  it('add to modgate-identity only capabilities of the module', async () => {
    await get('token-agent');
    const token = headerValue(provider.only().headers, 'modgate-identity') ?? '';
    expect(decodeJwt(token)['scope']).to.equal('crm.read');
  });

  it('lead to a 403 that names the limit if their capabilities do not fit into modgate-identity', async () => {
    const problem = await get('token-greedy');
    expectProblem(problem, 403);
    expect(parseJson(problem).detail).to.include('do not fit into modgate-identity');
    const { checks } = await explain('token-greedy');
    const capability = checks.find(({ check }: { check: string }) => check === 'capability');
    expect(capability.outcome).to.equal('fail');
  });

  it('change on every worker with the file, and a broken file changes nothing', async () => {
    write('roles.json', { roles: { ...ROLES, support: { scopes: ['crm.locked'] } } });
    const isChanged = async () => {
      const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf('token-agent')));
      return statuses.every((status) => status === 403);
    };
    await waitUntil('every worker has the change', isChanged);
    expect(await statusOf('token-agent', LOCKED)).to.equal(200);
    write('roles.json', { roles: { support: { roles: ['support'] } } });
    const isReported = () => /roles file is invalid; keeping the last good/.test(host.output());
    await waitUntil('the broken file is reported', isReported);
    expect(await statusOf('token-agent', LOCKED)).to.equal(200);
    write('roles.json', { roles: ROLES });
    await expectStatus('token-agent', 200);
  });
});
