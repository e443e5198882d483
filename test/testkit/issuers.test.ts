import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openIssuersAuthenticators } from '../../core/auth/issuers.js';
import {
  type AuthenticatorSubject,
  authenticatorSuite,
  createFakeLog,
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

const bearer = (token: string): GivenCredentials => ({ scheme: 'bearer', token });
const actorOf = (id: string) => ({ kind: 'service', id, scopes: ['crm.read'] }) as const;

/** Opens the authenticator of this name over a file of issuers. */
async function open(name: string, issuers: object) {
  const folder = mkdtempSync(join(tmpdir(), 'modgate-issuers-'));
  const file = join(folder, 'issuers.json');
  writeFileSync(file, JSON.stringify(issuers));
  const opened = await openIssuersAuthenticators(file, {
    log: createFakeLog(),
    environment: { SECRET: 'x' },
  });
  const authenticator = opened.chain.find((member) => member.name === name);
  if (authenticator === undefined) throw new Error(`no authenticator ${name}`);
  const stop = async () => {
    await opened.close();
    rmSync(folder, { recursive: true });
  };
  return { authenticator, stop };
}

/** One pair for all clauses: to create an RSA key takes longer than most of them. */
let createdKeys: Promise<readonly [SigningKey, SigningKey]> | undefined;

function createKeys() {
  createdKeys ??= Promise.all([createSigningKey('key'), createSigningKey('key')]);
  return createdKeys;
}

const JWT: AuthenticatorSubject = {
  name: 'jwt',
  start: async () => {
    const [key, otherKey] = await createKeys();
    const issuer = await startFakeIssuer([key]);
    const { authenticator, stop } = await open('jwt', {
      issuers: [
        {
          issuer: ISSUER,
          audience: 'modgate',
          algorithms: ['RS256'],
          jwks: { url: issuer.url },
          actor: { kind: 'service' },
        },
      ],
    });
    const good = async (sub: string) => ({
      credentials: bearer(await signToken(key, { sub })),
      actor: actorOf(sub),
    });
    return {
      authenticator,
      good: [await good('one'), await good('two')] as const,
      bad: [
        bearer(await signToken(key, { exp: 1 })),
        bearer(await signToken(otherKey)),
        bearer('a.b.c'),
      ],
      stop: async () => {
        await stop();
        await issuer.close();
      },
    };
  },
};

const OPAQUE: ReadonlyMap<string, string> = new Map([
  ['opaque-one', 'one'],
  ['opaque-two', 'two'],
]);

const INTROSPECTION: AuthenticatorSubject = {
  name: 'introspection',
  start: async () => {
    const issuer: ScriptedProvider = await startProvider((_request, response) => {
      const form = new URLSearchParams(issuer.requests.at(-1)?.body.toString());
      const sub = OPAQUE.get(form.get('token') ?? '');
      const introspected = { active: true, sub, scope: 'crm.read' };
      response.end(JSON.stringify(sub === undefined ? { active: false } : introspected));
    });
    const { authenticator, stop } = await open('introspection', {
      introspection: [
        {
          name: 'corp',
          url: issuer.url,
          client_id: 'modgate',
          client_secret: 'env:SECRET',
          actor: { kind: 'service' },
        },
      ],
    });
    return {
      authenticator,
      good: [
        { credentials: bearer('opaque-one'), actor: actorOf('one') },
        { credentials: bearer('opaque-two'), actor: actorOf('two') },
      ],
      bad: [bearer('opaque-three'), bearer('opaque one')],
      stop: async () => {
        await stop();
        await issuer.stop();
      },
    };
  },
};

authenticatorSuite(JWT);
authenticatorSuite(INTROSPECTION);
