import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseIssuersFile } from '../../../core/auth/issuers-file.js';
import { type Claims, createActor } from '../../../core/auth/map-claims.js';
import { parseRolesFile } from '../../../core/auth/role-table.js';
import { Roles } from '../../../core/auth/roles.js';
import { createRecordedLog } from '../../support/auth/recorded-log.js';

const PAGE = 'docs/operate/fifty-services.md';

/** Claims in the form in which each provider sends them, without those that modgate does not read. */
const TOKENS: Readonly<
  Record<string, { readonly claims: Claims; readonly id: string; readonly roles: string[] }>
> = {
  Keycloak: {
    claims: {
      exp: 1_795_449_600,
      iat: 1_795_449_300,
      jti: 'onrtac:5c1f2e4b-4b5b-4d6f-9f0a-2a7d3b0f6c11',
      iss: 'https://keycloak.example.com/realms/acme',
      aud: ['modgate', 'account'],
      sub: 'f9a3c1de-52f6-4a54-9c0e-6a7e2b1f0d33',
      typ: 'Bearer',
      azp: 'modgate',
      sid: '0d4c7b6a-2e1f-4c55-8a4e-1f2b3c4d5e6f',
      acr: '1',
      'allowed-origins': ['https://modgate.example.com'],
      realm_access: { roles: ['default-roles-acme', 'offline_access', 'support', 'operator'] },
      resource_access: {
        modgate: { roles: ['reader'] },
        account: { roles: ['manage-account', 'view-profile'] },
      },
      scope: 'openid profile email',
      email_verified: true,
      preferred_username: 'ann',
    },
    id: 'ann',
    roles: ['support', 'reader'],
  },
  'Entra ID': {
    claims: {
      aud: '00001111-aaaa-2222-bbbb-3333cccc4444',
      iss: 'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0',
      iat: 1_795_449_300,
      nbf: 1_795_449_300,
      exp: 1_795_453_200,
      aio: 'ATQAy/8TAAAA',
      azp: '11112222-bbbb-3333-cccc-4444dddd5555',
      azpacr: '1',
      groups: ['5f2c9d1e-3b7a-4c1d-9e55-0a4b6f8d2c10', '0d0b6f2a-7c3e-4f18-9d2c-5b1a4e6f7081'],
      name: 'Ann Smith',
      oid: 'aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb',
      preferred_username: 'ann@example.com',
      rh: '0.AAAA',
      roles: ['Support.Agent', 'Task.Write'],
      scp: 'access_as_user',
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      tid: '72f988bf-86f1-41af-91ab-2d7cd011db47',
      ver: '2.0',
    },
    id: 'aaaaaaaa-0000-1111-2222-bbbbbbbbbbbb',
    roles: ['support', 'operator'],
  },
  Auth0: {
    claims: {
      'https://modgate.example.com/id': 'ann@example.com',
      'https://modgate.example.com/roles': ['support', 'operator'],
      iss: 'https://acme.eu.auth0.com/',
      sub: 'auth0|652fa1b2c3d4e5f6a7b8c9d0',
      aud: ['https://modgate.example.com', 'https://acme.eu.auth0.com/userinfo'],
      iat: 1_795_449_300,
      exp: 1_795_535_700,
      scope: 'openid profile',
      azp: 'my_client_id',
      permissions: ['notes.read'],
    },
    id: 'ann@example.com',
    roles: ['support'],
  },
  Okta: {
    claims: {
      ver: 1,
      jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
      iss: 'https://acme.okta.com/oauth2/default',
      aud: 'api://modgate',
      sub: 'ann@example.com',
      iat: 1_795_449_300,
      exp: 1_795_452_900,
      cid: '0oab8eb55Kb9jdMIr5d6',
      uid: '00uid4BxXw6I6TV4m0g3',
      auth_time: 1_795_449_290,
      scp: ['openid', 'profile'],
      groups: ['Everyone', 'Customer Support', 'support'],
    },
    id: 'ann@example.com',
    roles: ['reader', 'support'],
  },
};

function readBlock(head: string): string {
  const text = readFileSync(PAGE, 'utf8');
  const [, block] = new RegExp(`\`\`\`yaml\n# ${head}\n([\\s\\S]*?)\`\`\``).exec(text) ?? [];
  return block ?? expect.fail(`${PAGE} has no block ${head}`);
}

describe(PAGE, () => {
  for (const [provider, { claims, id, roles }] of Object.entries(TOKENS)) {
    it(`maps a token of ${provider} to its roles and their scopes`, async () => {
      const { log } = createRecordedLog();
      const table = parseRolesFile('roles.yaml', readBlock('roles.yaml'));
      const text = readBlock(`issuers.yaml of ${provider}`);
      const [issuer] = (await parseIssuersFile('issuers.yaml', text, {})).issuers;
      if (issuer === undefined) return expect.fail('the block has no issuer');
      expect(issuer.issuer).to.equal(claims['iss']);
      expect([claims['aud']].flat()).to.include(issuer.audience);
      const mappedActor = createActor(claims, issuer.actor);
      const actor = new Roles({ current: table, close: async () => {} }, log).resolve(
        mappedActor,
        'jwt',
      );
      expect(actor.id).to.equal(id);
      expect(actor.roles).to.deep.equal(roles);
      expect(actor.scopes.has('crm.contacts.write')).to.equal(true);
      expect(actor.scopes.has('modgate.explain')).to.equal(false);
      expect(actor.scopes.has('modgate.modules.read')).to.equal(provider === 'Entra ID');
    });
  }
});
