import { expect } from 'chai';
import { RoleScopes } from '../../core/auth/role-scopes.js';
import { parseRolesFile } from '../../core/auth/role-table.js';

const parse = (roles: object) => parseRolesFile('roles.json', JSON.stringify({ roles }));
const messageOf = (roles: object) => {
  try {
    parse(roles);
    return 'accepted';
  } catch (error) {
    return String(error).replace(/\d+:\d+/g, 'L:C');
  }
};
const numbered = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

const ROLES = {
  reader: { description: 'Reads all', scopes: ['crm.read', 'notes.read'] },
  writer: { scopes: ['crm.write'], roles: ['reader'] },
  lead: { roles: ['writer', 'reader'] },
};

describe('roles file', () => {
  it('is read as YAML and as JSON', () => {
    const yaml = parseRolesFile('roles.yaml', 'roles:\n  reader: { scopes: [crm.read] }\n');
    expect([...(yaml.get('reader')?.scopes ?? [])]).to.deep.equal([['crm.read', 'reader']]);
    expect(parse({}).size).to.equal(0);
  });

  it('gives a role the scopes of the roles that it names, and says from which one', () => {
    expect([...(parse(ROLES).get('lead')?.scopes ?? [])]).to.deep.equal([
      ['crm.write', 'writer'],
      ['crm.read', 'reader'],
      ['notes.read', 'reader'],
    ]);
  });

  it('lists the roles that have a scope, the owner first', () => {
    const table = parse(ROLES);
    expect(table.listHolders('crm.read')).to.deep.equal(['reader', 'writer', 'lead']);
    expect(table.listHolders('crm.write')).to.deep.equal(['writer', 'lead']);
    expect(table.listHolders('crm')).to.deep.equal([]);
  });

  it('rejects circles, each at the reference that closes it', () => {
    const circle = { a: { roles: ['b'] }, b: { roles: ['c'] }, c: { roles: ['a'] } };
    expect(messageOf(circle)).to.match(/roles.json:L:C role 'c' names 'a'.*no circle$/);
    expect(messageOf({ a: { roles: ['a'] } })).to.include("role 'a' names 'a'");
  });

  for (const [title, roles, message] of [
    [
      'a role that the file does not have',
      { a: { roles: ['raeder'] }, reader: {} },
      'did you mean',
    ],
    ['an invalid scope', { a: { scopes: ['a,b'] } }, 'visible ASCII without a comma'],
    ['an invalid name', { 'a b': {} }, 'letters, digits or ._-'],
    ['an unknown key', { a: { scope: [] } }, 'unknown key'],
    [
      'more than 1,000 roles',
      Object.fromEntries(numbered(1001, 'r').map((name) => [name, {}])),
      'at most 1000',
    ],
    [
      'more than 5,000 scopes with those of named roles',
      { a: { scopes: numbered(2501, 'a'), roles: ['b'] }, b: { scopes: numbered(2500, 'b') } },
      "role 'a' has 5001 different scopes",
    ],
  ] as [string, object, string][]) {
    it(`rejects ${title}`, () => {
      expect(messageOf(roles)).to.include(message);
    });
  }

  it('counts a scope that several roles list once', () => {
    const scopes = numbered(5000, 's');
    expect(parse({ a: { scopes, roles: ['b'] }, b: { scopes } }).size).to.equal(2);
  });
});

describe('scopes of roles', () => {
  const table = parse(ROLES);
  const roles = ['writer', 'reader'].flatMap((name) => table.get(name) ?? []);

  it('are a set of those that were given and those of the roles', () => {
    const scopes = new RoleScopes(new Set(['own', 'crm.read']), roles, null);
    expect([...scopes]).to.deep.equal(['own', 'crm.read', 'crm.write', 'notes.read']);
    expect(scopes.size).to.equal(4);
    expect(['own', 'notes.read', 'crm.write'].every((scope) => scopes.has(scope))).to.equal(true);
    expect(['', 'crm', 'reader', 'crm.*'].some((scope) => scopes.has(scope))).to.equal(false);
    const called: string[] = [];
    scopes.forEach((scope) => {
      called.push(scope);
    });
    expect(called).to.deep.equal([...scopes.keys()]);
    expect([...scopes.entries()][0]).to.deep.equal(['own', 'own']);
  });

  it('are bounded by the allowed ones, those that were given are not', () => {
    const scopes = new RoleScopes(new Set(['own']), roles, new Set(['crm.read']));
    expect([...scopes]).to.deep.equal(['own', 'crm.read']);
    expect(scopes.has('crm.write')).to.equal(false);
    expect(scopes.findRole('crm.write')).to.equal(null);
  });

  it('find the role that adds a scope', () => {
    const scopes = new RoleScopes(new Set(['crm.read']), roles, null);
    expect(scopes.findRole('crm.write')?.name).to.equal('writer');
    expect(scopes.findRole('crm.read')).to.equal(null);
  });
});
