import { createHash, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ISSUER } from '../fake-issuer.js';

const SECRET = 'PREDICTION_SECRET';
const TOKEN_URL = `${ISSUER}/token`;

/** `editor` has the scopes of `reader` too. */
const ROLES = {
  reader: { scopes: ['a.read', 'modgate.explain'] },
  editor: { scopes: ['a.write', 'b.read'], roles: ['reader'] },
};
/** Their scopes are those of their roles. */
const TOKENS = (['service', 'user'] as const).flatMap((kind) =>
  Object.keys(ROLES).map((role) => ({ kind, role, token: `token-${kind}-${role}` })),
);

export const ROLE_TOKENS = TOKENS.map(({ token }) => token);

/** A provider for whose calls the tokens of an issuer are exchanged. */
export function describeExchange(url: string): object {
  const client = { client_id: 'gateway', client_secret: `env:${SECRET}` };
  const exchange = { issuer: ISSUER, token_url: TOKEN_URL, ...client };
  return { kind: 'http', config: { endpoints: [url], auth: { exchange } } };
}

/** The settings of a host with the roles, and with an issuer whose tokens are exchanged. */
export function createHostOptions(folder: string) {
  const write = (name: string, content: object) => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(content));
    return file;
  };
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'first', alg: 'RS256', use: 'sig' };
  const issuer = {
    issuer: ISSUER,
    token_endpoints: [TOKEN_URL],
    audience: 'modgate',
    algorithms: ['RS256'],
    jwks: { file: write('keys.json', { keys: [key] }) },
    actor: { kind: 'user' },
  };
  const roles = write('roles.json', { roles: ROLES });
  const issuers = write('issuers.json', { issuers: [issuer] });
  const tokens = TOKENS.map(({ kind, role, token }) => ({
    id: token,
    kind,
    scopes: [],
    roles: [role],
    sha256: createHash('sha256').update(token).digest('hex'),
  }));
  return {
    args: ['--roles', roles, '--issuers', issuers],
    tokens: { tokens },
    env: { [SECRET]: 'secret' },
  };
}
