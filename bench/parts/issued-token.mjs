import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'modgate';
const LIFETIME_SECONDS = 86_400;

/**
 * An issuer of its own, in files: `issuers` for the host, and a token (EdDSA) of it that holds the scope.
 * @param {string} folder
 * @param {string} scope
 * @returns {{ issuers: string, token: string }}
 */
export function issueToken(folder, scope) {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'EdDSA', use: 'sig' };
  writeFileSync(join(folder, 'jwks.json'), JSON.stringify({ keys: [key] }));
  const issuers = join(folder, 'issuers.json');
  const issuer = {
    issuer: ISSUER,
    audience: AUDIENCE,
    algorithms: ['EdDSA'],
    jwks: { file: './jwks.json' },
    actor: { kind: 'service' },
  };
  writeFileSync(issuers, JSON.stringify({ issuers: [issuer] }));
  const now = Math.floor(Date.now() / 1000);
  const signed = [
    { alg: 'EdDSA', typ: 'JWT', kid: 'bench' },
    { iss: ISSUER, aud: AUDIENCE, sub: 'bench', scope, iat: now, exp: now + LIFETIME_SECONDS },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign(null, Buffer.from(signed), privateKey).toString('base64url');
  return { issuers, token: `${signed}.${signature}` };
}
