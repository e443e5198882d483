import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { describeModule } from '../support/http/modules.js';

interface Finding {
  readonly file: string;
  readonly line: number | null;
  readonly severity: string;
  readonly rule: string;
  readonly message: string;
}

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const ENTRY = { id: 'desk', kind: 'service', scopes: [], sha256: 'a'.repeat(64) };

/** The findings about roles of `modgate serve --check`. */
describe('modgate serve --check with roles', () => {
  let place: Workplace;

  beforeEach(() => {
    place = createWorkplace();
    place.write('modules.d/crm.json', describeModule('crm', 'http://127.0.0.1:9', ROUTES));
  });

  const RULES = ['undeclared-scope', 'unused-role', 'unknown-role', 'roles-without-file'];
  const check = async (...args: readonly string[]) => {
    const { code, stdout } = await place.run(['serve', '--check', '--json', ...args]);
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
    expect(code, stdout).to.equal(0);
    return findings
      .filter(({ rule }) => RULES.includes(rule))
      .map(({ file, line, severity, message }) => {
        expect(severity).to.equal('warning');
        return `${file.split('/').at(-1)}:${line ?? '-'} ${message}`;
      });
  };
  const writeRoles = (...lines: readonly string[]) =>
    place.write('roles.yaml', ['roles:', ...lines, ''].join('\n'));
  const writeTokens = (...roles: readonly string[]) =>
    place.write('tokens.json', { tokens: [{ ...ENTRY, roles }] });
  const writeIssuer = (actor: object) =>
    place.write('issuers.json', {
      issuers: [
        {
          ...{ issuer: 'https://issuer.example', audience: 'modgate', algorithms: ['RS256'] },
          ...{ jwks: { url: 'http://127.0.0.1:9/jwks' }, actor: { kind: 'user', ...actor } },
        },
      ],
    });
  const TOKENS = ['--tokens', 'tokens.json'];
  const ISSUERS = ['--issuers', 'issuers.json'];
  const ROLES = ['--roles', 'roles.yaml'];

  it('finds nothing where every role has an effect', async () => {
    writeRoles(
      '  support: { roles: [reader], scopes: [modgate.explain] }',
      '  reader: { scopes: [crm.read] }',
    );
    writeTokens('support');
    expect(await check(...TOKENS, ...ROLES)).to.deep.equal([]);
  });

  it('warns of scopes that no module declares, with their place', async () => {
    writeRoles('  support:', '    scopes: [crm.read, crm.raed]');
    writeTokens('support');
    expect(await check(...TOKENS, ...ROLES)).to.deep.equal([
      "roles.yaml:3 role 'support' lists the scope 'crm.raed', which no module declares",
    ]);
    const remote = describeModule('far', 'http://127.0.0.1:9', [], {
      manifest: { from: 'provider' },
    });
    place.write('modules.d/far.json', remote);
    expect(await check(...TOKENS, ...ROLES)).to.deep.equal([]);
  });

  it('warns of roles that no actor can have', async () => {
    writeRoles('  support: { scopes: [crm.read] }', '  admin: { scopes: [crm.read] }');
    writeTokens('support');
    const expected = ["roles.yaml:3 no actor can have the role 'admin'"];
    expect(await check(...TOKENS, ...ROLES)).to.deep.equal(expected);
    const args = [...TOKENS, ...ROLES, ...ISSUERS];
    writeIssuer({ roles: ['groups'], allowed_roles: ['support'] });
    expect(await check(...args)).to.deep.equal(expected);
    writeIssuer({ roles: ['groups'], role_values: { a: 'admin' }, allowed_roles: ['support'] });
    expect(await check(...args)).to.deep.equal(expected);
    writeIssuer({ roles: ['groups'], role_values: { a: 'admin' } });
    expect(await check(...args)).to.deep.equal([]);
    writeIssuer({ roles: ['groups'] });
    expect(await check(...args)).to.deep.equal([]);
  });

  it('warns of names that the roles file does not have', async () => {
    writeRoles('  support: { scopes: [crm.read] }');
    writeTokens('support', 'supprot');
    writeIssuer({ roles: ['groups'], allowed_roles: ['reader'] });
    expect(await check(...TOKENS, ...ROLES, ...ISSUERS)).to.deep.equal([
      'tokens.json:- names roles that the roles file does not have: supprot',
      'issuers.json:- names roles that the roles file does not have: reader',
    ]);
  });

  it('warns of roles that give nothing without a roles file', async () => {
    const message = 'gives roles to actors, but no roles file is configured: they add no scopes';
    writeTokens('support');
    writeIssuer({ roles: ['groups'] });
    expect(await check(...TOKENS, ...ISSUERS)).to.deep.equal([
      `tokens.json:- ${message}`,
      `issuers.json:- ${message}`,
    ]);
    place.write('tokens.json', { tokens: [ENTRY] });
    writeIssuer({});
    expect(await check(...TOKENS, ...ISSUERS)).to.deep.equal([]);
  });
});
