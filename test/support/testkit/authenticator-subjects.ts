import { createHash, createHmac, hash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { object, string } from 'superstruct';
import { createBearerCredentials } from '../../../core/auth/caller-credentials.js';
import { createDevAuthenticator } from '../../../core/auth/dev-tokens.js';
import { openTokensAuthenticator } from '../../../core/auth/static-tokens.js';
import {
  type Authenticator,
  defineAuthenticator,
  type Secret,
  secretReference,
} from '../../../core/contract/index.js';
import { createFakeLog, defineAuthenticatorSubject } from '../../../core/testkit/index.js';
import { createFolder } from '../temporary-folder.js';

export const bearer = createBearerCredentials;

export const DEV = defineAuthenticatorSubject({
  authenticator: defineAuthenticator({
    name: 'dev',
    config: object({}),
    open: () => createDevAuthenticator(),
  }),
  start: async () => ({
    good: [
      {
        credentials: bearer('dev-service:billing:crm.read,crm.write'),
        actor: { kind: 'service', id: 'billing', scopes: ['crm.write', 'crm.read'] },
      },
      {
        credentials: bearer('dev-user:ann'),
        actor: { kind: 'user', id: 'ann', scopes: [] },
      },
    ],
    bad: [bearer('dev-service:'), bearer('dev-robot:a'), bearer('dev-service:a:')],
  }),
});

export const TOKENS = defineAuthenticatorSubject({
  authenticator: defineAuthenticator({
    name: 'tokens',
    config: object({ file: string() }),
    open: async ({ file }, { scope }) => {
      const authenticator = await openTokensAuthenticator(file, { log: createFakeLog() });
      scope.defer(() => authenticator.close());
      return authenticator;
    },
  }),
  start: startTokens,
});

async function startTokens() {
  const folder = createFolder();
  const file = join(folder, 'tokens.json');
  const entry = (id: string, token: string, others: object = {}) => {
    const sha256 = createHash('sha256').update(token).digest('hex');
    return { id, kind: 'service', scopes: ['crm.read'], sha256, ...others };
  };
  const old = { expires_at: '2020-01-01T00:00:00Z' };
  const tokens = [entry('one', 'token-one'), entry('two', 'token-two'), entry('old', 'old', old)];
  writeFileSync(file, JSON.stringify({ tokens }));
  const good = (id: string) =>
    ({
      credentials: bearer(`token-${id}`),
      actor: { kind: 'service', id, scopes: ['crm.read'] },
    }) as const;
  return {
    config: { file },
    good: [good('one'), good('two')] as const,
    bad: [bearer('old'), bearer('token-three')],
    stop: async () => rmSync(folder, { recursive: true }),
  };
}

const SIGNING_KEY = 'a key of tests';
export const SIGNED = defineAuthenticatorSubject({
  authenticator: defineAuthenticator({
    name: 'signed',
    config: object({ key: secretReference() }),
    open: ({ key }: { key: string }, context) => createSigned(context.secret(key)),
  }),
  start: startSigned,
});

const sign = (key: string, ...parts: readonly string[]) =>
  createHmac('sha256', key).update(parts.join(' ')).digest('hex');

/** Requests signed in a header of their own, with their method, target and body. */
function createSigned(key: Secret): Authenticator {
  return {
    name: 'signed',
    reads: ['x-signature'],
    challenges: ['Signature realm="tests"'],
    authenticate: ({ method, target, headers }) => {
      const [value = ''] = headers.get('x-signature') ?? [];
      const [id = '', bodySha256 = '', signature, more] = value.split('.');
      const expected = sign(key.reveal(), id, method, target, bodySha256);
      if (signature !== expected || more !== undefined) return null;
      return { actor: { kind: 'service', id, scopes: new Set() }, bodySha256 };
    },
  };
}

export async function startSigned() {
  const good = (id: string, body: string) => {
    const [method, target, bodySha256] = ['POST', `/${id}`, hash('sha256', body)];
    const signature = `${id}.${bodySha256}.${sign(SIGNING_KEY, id, method, target, bodySha256)}`;
    const headers = new Map([['x-signature', [signature]]]);
    const actor = { kind: 'service', id, scopes: [] } as const;
    return { credentials: { method, target, headers }, actor, bodySha256 };
  };
  return {
    config: { key: 'env:KEY' },
    references: { secrets: { 'env:KEY': SIGNING_KEY } },
    good: [good('one', '{}'), good('two', '')] as const,
    bad: [{ headers: new Map([['x-signature', ['one.x.y']]]) }, {}],
  };
}
