import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { describeModule } from '../support/http/modules.js';
import { openHost } from '../support/open-host.js';
import { useEach } from '../support/use.js';

const ENDPOINT = 'http://127.0.0.1:9';

const CRM_MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'acme/crm',
  capabilities: ['crm.read', 'crm.extra'],
  http_routes: [{ method: 'GET', path: '/items', capability: 'crm.read' }],
  admin: {
    entities: [{ name: 'contacts', read_capability: 'crm.read', list_path: '/contacts' }],
  },
};

const ROLES = {
  support: {
    description: 'Answers customers',
    scopes: ['crm.extra', 'crm.old'],
    roles: ['reader'],
  },
  reader: { scopes: ['crm.read', 'modgate.explain'] },
};

const OPENED = {
  'crm.extra': { declared: true, modules: [{ module: 'crm', opens: [] }] },
  'crm.old': { declared: false, modules: [] },
  'crm.read': {
    declared: true,
    modules: [{ module: 'crm', opens: ['GET /items', 'entity contacts'] }],
  },
  'modgate.explain': { declared: true, modules: [] },
};

describe('modgate roles', () => {
  const place = useEach(createWorkplace);

  beforeEach(() => {
    place.write('roles.json', { roles: ROLES });
    place.write(
      'modules.d/crm.json',
      describeModule('crm', ENDPOINT, [], { manifest: { inline: CRM_MANIFEST } }),
    );
    const off = [{ method: 'GET', path: '/old', capability: 'crm.old' }];
    place.write('modules.d/off.json', describeModule('off', ENDPOINT, off, { enabled: false }));
  });

  const run = (...args: string[]) => place.run([...args, '--roles', 'roles.json']);
  const readJson = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  };

  it('prints each role with what its scopes open', async () => {
    const { code, stdout } = await run('roles');
    expect(code).to.equal(0);
    expect(stdout).to.equal(
      [
        'ROLE     INCLUDES  DESCRIPTION',
        'support  reader    Answers customers',
        '  crm.extra  crm: contributions',
        '  crm.old    nothing: no module declares it',
        'reader   -         -',
        '  crm.read         crm: GET /items, entity contacts',
        '  modgate.explain  rights of the host',
        '',
      ].join('\n'),
    );
  });

  it('prints the report as JSON, each scope once', async () => {
    const { roles, scopes, not_declared } = await readJson('roles');
    expect(roles).to.deep.equal([
      { name: 'support', ...ROLES.support },
      { name: 'reader', description: null, ...ROLES.reader, roles: [] },
    ]);
    expect(scopes).to.deep.equal(
      Object.entries(OPENED).map(([scope, opened]) => ({ scope, ...opened })),
    );
    expect(not_declared).to.deep.equal(['crm.old']);
  });

  it('does not call a scope undeclared while a manifest is not known', async () => {
    const remote = { manifest: { from: 'provider' } };
    place.write('modules.d/far.json', describeModule('far', ENDPOINT, [], remote));
    const { scopes, not_declared } = await readJson('roles');
    expect(scopes[1]).to.deep.equal({ scope: 'crm.old', declared: null, modules: [] });
    expect(not_declared).to.deep.equal([]);
    expect((await run('roles')).stdout).to.include('unknown: the manifest of a module');
  });

  it('prints the same from a running host', async () => {
    const expected = await readJson('roles');
    const host = await openHost([
      ...['serve', '--env', 'development', '--port', '0', '--state', `${place.folder}/state`],
      ...['--modules', `${place.folder}/modules.d`, '--roles', `${place.folder}/roles.json`],
    ]);
    try {
      const token = 'dev-service:ops:modgate.modules.read';
      const args = ['--url', host.url, '--token', token, '--json'];
      const { code, stdout, stderr } = await place.run(['roles', ...args]);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).to.deep.equal(expected);
      const grants = await place.run(['grants', '--role', 'support', ...args]);
      expect(JSON.parse(grants.stdout)).to.deep.equal(
        await readJson('grants', '--role', 'support'),
      );
      const other = await place.run(['roles', '--url', host.url, '--token', 'dev-service:ops:x']);
      expect(other.code).to.equal(1);
      expect(other.stderr).to.include('responded with 403');
    } finally {
      await host.stop();
    }
  });

  it('exits with 2 for files that cannot be used, and for options of the other source', async () => {
    const expectError = async (args: string[], pattern: RegExp) => {
      const { code, stdout, stderr } = await place.run(args);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.match(pattern);
    };
    await expectError(['roles'], /no roles file is configured: set --roles FILE/);
    await expectError(['roles', '--roles', 'absent.json'], /absent\.json does not exist/);
    await expectError(['roles', '--token', 'a'], /--token cannot be used without --url/);
    const contradictory = ['roles', '--url', 'http://127.0.0.1:9', '--roles', 'roles.json'];
    await expectError(contradictory, /--roles cannot be used with --url/);
    place.write('roles.json', { roles: { support: { roles: ['support'] } } });
    await expectError(
      ['roles', '--roles', 'roles.json'],
      /^modgate: \S*roles\.json:1:\d+ .*circle/,
    );
  });
});

describe('modgate grants --role', () => {
  const place = createWorkplace();

  before(() => {
    place.write('roles.json', { roles: ROLES });
    place.write('modgate.yaml', 'roles: roles.json\n');
    place.write(
      'modules.d/crm.json',
      describeModule('crm', ENDPOINT, [], { manifest: { inline: CRM_MANIFEST } }),
    );
  });

  it('prints what a role opens, with the roles that it names', async () => {
    const { code, stdout } = await place.run(['grants', '--role', 'support']);
    expect(code).to.equal(0);
    expect(stdout).to.equal(
      [
        'role         support',
        'description  Answers customers',
        'roles        reader',
        '',
        'scope            from     opens',
        'crm.extra        support  crm: contributions',
        'crm.old          support  nothing: no module declares it',
        'crm.read         reader   crm: GET /items, entity contacts',
        'modgate.explain  reader   rights of the host',
        '',
      ].join('\n'),
    );
  });

  it('prints it as JSON', async () => {
    const { stdout } = await place.run(['grants', '--role', 'reader', '--json']);
    expect(JSON.parse(stdout)).to.deep.equal({
      role: 'reader',
      description: null,
      roles: [],
      scopes: (['crm.read', 'modgate.explain'] as const).map((scope) => ({
        scope,
        ...OPENED[scope],
        from: 'reader',
      })),
      not_declared: [],
    });
  });

  it('exits with 2 for an unknown role, and beside a module', async () => {
    const unknown = await place.run(['grants', '--role', 'suport']);
    expect(unknown.code).to.equal(2);
    expect(unknown.stderr).to.match(/no role 'suport': did you mean 'support'\?/);
    const contradictory = await place.run(['grants', 'crm', '--role', 'support']);
    expect(contradictory.stderr).to.include('--role cannot be used with a module');
    const useless = await place.run(['grants', 'crm', '--url', 'http://127.0.0.1:9']);
    expect(useless.stderr).to.include('--url cannot be used without --role');
  });
});
