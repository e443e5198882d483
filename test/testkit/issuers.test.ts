import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { any, object } from 'superstruct';
import { openIssuersAuthenticators } from '../../core/auth/issuers.js';
import { defineAuthenticator } from '../../core/contract/index.js';
import {
  type AuthenticatorSubject,
  authenticatorSuite,
  type GivenCredentials,
} from '../../core/testkit/index.js';
import {
  createSigningKey,
  ISSUER,
  type SigningKey,
  signToken,
  startFakeIssuer,
} from '../support/fake-issuer.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import { createFolder } from '../support/temporary-folder.js';

const bearer = (token: string): GivenCredentials => ({ scheme: 'bearer', token });
const actorOf = (id: string) => ({ kind: 'service', id, scopes: ['crm.read'] }) as const;

/** The authenticator of this name of the host. */
function define(name: string) {
  return defineAuthenticator({
    name,
    config: object({ issuers: any() }),
    open: async ({ issuers }, { scope, log }) => {
      const folder = createFolder();
      scope.defer(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'issuers.json');
      writeFileSync(file, JSON.stringify(issuers));
      const environment = { SECRET: 'x' };
      const opened = await openIssuersAuthenticators(file, { log, environment });
      scope.defer(() => opened.close());
      const authenticator = opened.chain.find((member) => member.name === name);
      if (authenticator === undefined) throw new Error(`no authenticator ${name}`);
      return authenticator;
    },
  });
}

/** One pair for all clauses: to create an RSA key takes longer than most of them. */
let createdKeys: Promise<readonly [SigningKey, SigningKey]> | undefined;

function createKeys() {
  createdKeys ??= Promise.all([createSigningKey('key'), createSigningKey('key')]);
  return createdKeys;
}

const JWT: AuthenticatorSubject = {
  authenticator: define('jwt'),
  start: async () => {
    const [key, otherKey] = await createKeys();
    const issuer = await startFakeIssuer([key]);
    const issuers = {
      issuers: [
        {
          issuer: ISSUER,
          audience: 'modgate',
          algorithms: ['RS256'],
          jwks: { url: issuer.url },
          actor: { kind: 'service' },
        },
      ],
    };
    const good = async (sub: string) => ({
      credentials: bearer(await signToken(key, { sub })),
      actor: actorOf(sub),
    });
    return {
      config: { issuers },
      good: [await good('one'), await good('two')] as const,
      bad: [
        bearer(await signToken(key, { exp: 1 })),
        bearer(await signToken(otherKey)),
        bearer('a.b.c'),
      ],
      stop: () => issuer.close(),
    };
  },
};

const OPAQUE: ReadonlyMap<string, string> = new Map([
  ['opaque-one', 'one'],
  ['opaque-two', 'two'],
]);

const INTROSPECTION: AuthenticatorSubject = {
  authenticator: define('introspection'),
  start: async () => {
    const issuer: ScriptedProvider = await startProvider((_request, response) => {
      const form = new URLSearchParams(issuer.requests.at(-1)?.body.toString());
      const sub = OPAQUE.get(form.get('token') ?? '');
      const introspected = { active: true, sub, scope: 'crm.read' };
      response.end(JSON.stringify(sub === undefined ? { active: false } : introspected));
    });
    const issuers = {
      introspection: [
        {
          name: 'corp',
          url: issuer.url,
          client_id: 'modgate',
          client_secret: 'env:SECRET',
          actor: { kind: 'service' },
        },
      ],
    };
    return {
      config: { issuers },
      good: [
        { credentials: bearer('opaque-one'), actor: actorOf('one') },
        { credentials: bearer('opaque-two'), actor: actorOf('two') },
      ],
      bad: [bearer('opaque-three'), bearer('opaque one')],
      stop: () => issuer.stop(),
    };
  },
};

authenticatorSuite(JWT);
authenticatorSuite(INTROSPECTION);
