import type { JWTHeaderParameters } from 'jose';

type Claims = Readonly<Record<string, unknown>>;

export interface Token {
  readonly header?: Partial<JWTHeaderParameters>;
  /** Changes of the claims; `undefined` omits one. */
  readonly claims: Claims;
}

interface Refused extends Token {
  readonly reason: string;
  readonly detail?: string;
}

export interface IdentityProvider {
  /** What the entry needs besides the issuer, its keys and its algorithms. */
  readonly entry: { readonly actor: object } & Claims;
  readonly algorithm?: 'RS256' | 'ES256';
  /** What it sends to a caller. */
  readonly token: Token;
  readonly actor: string;
  /** Other tokens that it signs with the same keys. */
  readonly refused: Readonly<Record<string, Refused>>;
}

const now = () => Math.floor(Date.now() / 1000);
const UUID = '7d2f6a0e-8c1b-4f3e-9a55-0b9f1c2d3e4f';
const API = 'c0ffee00-8c1b-4f3e-9a55-0b9f1c2d3e4f';
const CLIENT = '0oa1b2c3d4e5';
const SERVICE_ACCOUNT = 'system:serviceaccount:shop:billing';
/** The role that each entry gives to the caller. */
export const READER = 'reader';
const grant = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, READER]));

export const PROVIDERS: Readonly<Record<string, IdentityProvider>> = {
  Keycloak: {
    entry: {
      audience: 'modgate',
      actor: { kind: 'user', roles: ['realm_access.roles'], role_values: grant('shop-reader') },
    },
    token: {
      header: { typ: 'JWT' },
      claims: {
        iss: 'https://keycloak.example/realms/shop',
        jti: `onrtac:${UUID}`,
        aud: ['modgate', 'account'],
        sub: UUID,
        typ: 'Bearer',
        azp: 'shop-cli',
        sid: UUID,
        acr: '1',
        'allowed-origins': ['https://shop.example'],
        realm_access: { roles: ['shop-reader', 'offline_access', 'uma_authorization'] },
        resource_access: { account: { roles: ['manage-account', 'view-profile'] } },
        scope: 'openid profile email',
        email_verified: true,
        preferred_username: 'ada',
      },
    },
    actor: `user:${UUID}`,
    refused: {
      'a token for another client': { claims: { aud: 'account' }, reason: 'audience' },
      ...Object.fromEntries(
        ['ID', 'Refresh', 'Offline', 'Logout'].map((typ) => [
          `a token of the type ${typ}`,
          { claims: { typ }, reason: 'claim', detail: 'typ' },
        ]),
      ),
    },
  },
  'Entra ID': {
    entry: {
      audience: API,
      actor: {
        id: 'oid',
        kind: { claim: 'idtyp', values: { app: 'service' }, default: 'user' },
        roles: ['roles', 'scp'],
        role_values: grant('Items.Read'),
      },
    },
    token: {
      header: { typ: 'JWT', x5t: 'L1KfKFI_jnXbwWc22xZxw1sUHH0' },
      claims: {
        iss: `https://login.microsoftonline.com/${UUID}/v2.0`,
        aud: API,
        nbf: now(),
        aio: 'ASQA2/8TAAAA',
        azp: CLIENT,
        azpacr: '1',
        idtyp: 'app',
        oid: '5b1c3a52-6c2f-4d3c-8d0b-1e2f3a4b5c6d',
        rh: '0.AXEA',
        roles: ['Items.Read'],
        scope: undefined,
        sub: '5b1c3a52-6c2f-4d3c-8d0b-1e2f3a4b5c6d',
        tid: UUID,
        uti: 'Zx8',
        ver: '2.0',
      },
    },
    actor: 'service:5b1c3a52-6c2f-4d3c-8d0b-1e2f3a4b5c6d',
    refused: {
      'an ID token': { claims: { aud: CLIENT, nonce: '678910' }, reason: 'audience' },
      'a token of version 1': {
        claims: { iss: `https://sts.windows.net/${UUID}/`, ver: '1.0' },
        reason: 'issuer',
      },
    },
  },
  Auth0: {
    entry: {
      audience: 'https://api.shop.example/',
      actor: {
        kind: { claim: 'gty', values: { 'client-credentials': 'service' }, default: 'user' },
        roles: ['permissions'],
        role_values: grant('read:items'),
      },
    },
    token: {
      header: { typ: 'JWT' },
      claims: {
        iss: 'https://shop.eu.auth0.com/',
        sub: 'google-oauth2|108204268033311374519',
        aud: ['https://api.shop.example/', 'https://shop.eu.auth0.com/userinfo'],
        azp: CLIENT,
        scope: 'openid profile read:items',
        permissions: ['read:items'],
      },
    },
    actor: 'user:google-oauth2|108204268033311374519',
    refused: {
      'an ID token': { claims: { aud: CLIENT, nonce: 'n' }, reason: 'audience' },
      'a logout token': {
        claims: {
          events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
          sid: UUID,
        },
        reason: 'claim',
        detail: 'events',
      },
    },
  },
  Okta: {
    entry: {
      audience: 'api://default',
      actor: { kind: 'user', roles: ['scp'], role_values: grant('items.read') },
    },
    token: {
      claims: {
        ver: 1,
        jti: 'AT.0mP4JKAZX1iACIT4vbEDF7LpvDVjxypPMf0D7uX39RE',
        iss: 'https://shop.okta.com/oauth2/default',
        aud: 'api://default',
        cid: CLIENT,
        uid: '00u2f3g4h5',
        scope: undefined,
        scp: ['openid', 'items.read'],
        auth_time: now() - 10,
        sub: 'ada+shop@example.org',
      },
    },
    actor: 'user:ada+shop@example.org',
    refused: { 'an ID token': { claims: { jti: 'ID.x', aud: CLIENT }, reason: 'audience' } },
  },
  Cognito: {
    entry: {
      audience: CLIENT,
      audience_claim: 'client_id',
      actor: { kind: 'user', id: 'username', roles: ['scope'], role_values: grant('shop/read') },
    },
    token: {
      claims: {
        iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEfGhI',
        aud: undefined,
        client_id: CLIENT,
        sub: UUID,
        'cognito:groups': ['staff'],
        origin_jti: UUID,
        event_id: UUID,
        token_use: 'access',
        scope: 'aws.cognito.signin.user.admin shop/read',
        auth_time: now() - 10,
        jti: UUID,
        username: 'Jörg Müller',
      },
    },
    actor: 'user:Jörg Müller',
    refused: {
      'a token of another client': { claims: { client_id: 'x' }, reason: 'audience' },
      'an ID token': {
        claims: { token_use: 'id', aud: CLIENT },
        reason: 'claim',
        detail: 'token_use',
      },
      'a token whose client is in aud alone': {
        claims: { aud: CLIENT, client_id: undefined },
        reason: 'claim',
        detail: 'client_id',
      },
    },
  },
  Hydra: {
    entry: {
      audience: 'shop-sync',
      audience_claim: 'client_id',
      actor: { kind: 'service', id: 'client_id', roles: ['scp'], role_values: grant('items') },
    },
    token: {
      header: { typ: 'JWT' },
      claims: {
        iss: 'https://hydra.example',
        // Empty where the client asked for none.
        aud: [],
        client_id: 'shop-sync',
        ext: {},
        nbf: now(),
        scope: undefined,
        scp: ['items', 'offline_access'],
        jti: UUID,
        sub: 'shop-sync',
      },
    },
    actor: 'service:shop-sync',
    refused: {
      'a token without expiry': { claims: { exp: undefined }, reason: 'claim', detail: 'exp' },
    },
  },
  UAA: {
    entry: {
      audience: 'shop',
      actor: {
        kind: { claim: 'grant_type', values: { client_credentials: 'service' }, default: 'user' },
        id: 'user_id',
        roles: ['scope'],
        role_values: grant('shop.read'),
      },
    },
    token: {
      header: { typ: 'JWT', jku: 'https://uaa.example/token_keys' },
      claims: {
        iss: 'https://uaa.example/oauth/token',
        jti: UUID.replaceAll('-', ''),
        sub: UUID,
        user_id: UUID,
        user_name: 'ada@example.org',
        email: 'ada@example.org',
        origin: 'ldap',
        zid: 'uaa',
        cid: 'shop-ui',
        azp: 'shop-ui',
        client_id: 'shop-ui',
        grant_type: 'authorization_code',
        scope: ['openid', 'shop.read'],
        rev_sig: '1a2b3c4d',
        aud: ['shop', 'openid', 'shop-ui'],
      },
    },
    actor: `user:${UUID}`,
    refused: {
      'a token within a token': {
        header: { jku: 'https://uaa.example/token_keys', cty: 'JWT' },
        claims: {},
        reason: 'header',
        detail: 'cty',
      },
    },
  },
  Kubernetes: {
    entry: {
      audience: 'modgate',
      actor: {
        kind: 'service',
        roles: [['kubernetes.io', 'namespace']],
        role_values: grant('shop'),
      },
    },
    token: {
      claims: {
        iss: 'https://kubernetes.default.svc.cluster.local',
        aud: ['modgate'],
        jti: UUID,
        'kubernetes.io': {
          namespace: 'shop',
          node: { name: 'node-1', uid: UUID },
          pod: { name: 'billing-5d8f', uid: UUID },
          serviceaccount: { name: 'billing', uid: UUID },
          warnafter: now() + 3607,
        },
        nbf: now(),
        scope: undefined,
        sub: SERVICE_ACCOUNT,
      },
    },
    actor: `service:${SERVICE_ACCOUNT}`,
    refused: {
      'a token for the API server': {
        claims: { aud: ['https://kubernetes.default.svc.cluster.local'] },
        reason: 'audience',
      },
      'a token of a Secret, which never expires': {
        claims: { aud: undefined, exp: undefined, iat: undefined },
        reason: 'claim',
        detail: 'aud',
      },
    },
  },
  'GitHub Actions': {
    entry: {
      audience: 'modgate',
      actor: { kind: 'service', roles: ['repository'], role_values: grant('acme/shop') },
    },
    token: {
      header: { typ: 'JWT', x5t: 'eBZ_cn3sXYAd0ch4THBKHIgOwOE' },
      claims: {
        iss: 'https://token.actions.githubusercontent.com',
        jti: UUID,
        sub: 'repo:acme/shop:ref:refs/heads/main',
        aud: 'modgate',
        ref: 'refs/heads/main',
        repository: 'acme/shop',
        repository_owner: 'acme',
        repository_visibility: 'private',
        run_id: '1234567890',
        actor: 'ada',
        workflow: 'CI',
        event_name: 'push',
        job_workflow_ref: 'acme/shop/.github/workflows/ci.yml@refs/heads/main',
        nbf: now() - 10,
        scope: undefined,
      },
    },
    actor: 'service:repo:acme/shop:ref:refs/heads/main',
    refused: {
      'a token with the default audience': {
        claims: { aud: 'https://github.com/acme' },
        reason: 'audience',
      },
    },
  },
  SPIFFE: {
    algorithm: 'ES256',
    entry: {
      audience: 'modgate',
      actor: {
        kind: 'service',
        roles: ['sub'],
        role_values: grant('spiffe://example.org/ns/shop/sa/billing'),
      },
    },
    token: {
      header: { typ: 'JOSE' },
      claims: {
        iss: 'https://spire.example',
        aud: ['modgate'],
        sub: 'spiffe://example.org/ns/shop/sa/billing',
        scope: undefined,
      },
    },
    actor: 'service:spiffe://example.org/ns/shop/sa/billing',
    refused: {
      'an SVID for another workload': {
        claims: { aud: ['spiffe://example.org/db'] },
        reason: 'audience',
      },
    },
  },
};
