import { createHash, createHmac, hash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { any, object, string } from 'superstruct';
import { createBearerCredentials } from '../../core/auth/caller-credentials.js';
import { createDevAuthenticator } from '../../core/auth/dev-tokens.js';
import { openTokensAuthenticator } from '../../core/auth/static-tokens.js';
import {
  type Actor,
  type Authenticator,
  type AuthenticatorContext,
  type AuthenticatorFactory,
  defineAuthenticator,
  type Secret,
  secretReference,
} from '../../core/contract/index.js';
import { AUTHENTICATION } from '../../core/testkit/clauses/authentication.js';
import {
  type AuthenticatorSubject,
  authenticatorSuite,
  createFakeLog,
  defineAuthenticatorSubject,
  runAuthenticatorClauses,
} from '../../core/testkit/index.js';
import { waitUntil } from '../support/http/wait-until.js';
import { createFolder } from '../support/temporary-folder.js';

const bearer = createBearerCredentials;

const DEV = defineAuthenticatorSubject({
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

const TOKENS = defineAuthenticatorSubject({
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
const SIGNED = defineAuthenticatorSubject({
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

async function startSigned() {
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

authenticatorSuite(DEV);
authenticatorSuite(TOKENS);
authenticatorSuite(SIGNED);

interface Mutant {
  readonly clause: string;
  readonly defect: string;
  /** Default: `TOKENS`. */
  readonly of?: AuthenticatorSubject;
  /** Changes what `open` returns. */
  readonly change?: (
    good: Authenticator,
    context: AuthenticatorContext,
  ) => Partial<Authenticator> | Promise<Partial<Authenticator>>;
  readonly changeFactory?: Partial<AuthenticatorFactory>;
}

const timers: NodeJS.Timeout[] = [];

const MUTANTS: readonly Mutant[] = [
  {
    clause: 'authenticator.name',
    defect: 'has no name',
    changeFactory: { name: '' },
  },
  {
    clause: 'authenticator.name',
    defect: 'has no name in logs',
    change: () => ({ name: '' }),
  },
  {
    clause: 'authenticator.config',
    defect: 'accepts every config',
    changeFactory: { config: any() },
  },
  {
    clause: 'authenticator.open',
    defect: 'never opens',
    change: () => new Promise(() => {}),
  },
  {
    clause: 'authenticator.open',
    defect: 'opens without the function authenticate',
    change: () => ({ authenticate: undefined }) as unknown as Partial<Authenticator>,
  },
  {
    clause: 'authenticator.headers',
    defect: 'names a header in upper case',
    change: () => ({ reads: ['Authorization'] }),
  },
  {
    clause: 'authenticator.headers',
    defect: 'reads another header than it names',
    of: SIGNED,
    change: () => ({ reads: ['x-key'] }),
  },
  {
    clause: 'authenticator.headers',
    defect: 'has no challenge',
    change: () => ({ challenges: [] }),
  },
  {
    clause: 'authenticator.good',
    defect: 'returns the digest of another body',
    of: SIGNED,
    change: (good) => ({
      authenticate: async (credentials) => {
        const result = await good.authenticate(credentials);
        return result && 'actor' in result ? { ...result, bodySha256: '0'.repeat(64) } : result;
      },
    }),
  },
  {
    clause: 'authenticator.near-miss',
    defect: 'compares the beginning of a signature',
    of: SIGNED,
    change: (good) => ({
      authenticate: (credentials) => {
        const [value = ''] = credentials.headers.get('x-signature') ?? [];
        const headers = new Map([['x-signature', [value.replace(/x$/, '')]]]);
        return good.authenticate({ ...credentials, headers });
      },
    }),
  },
  {
    clause: 'authenticator.signed',
    defect: 'does not cover the target',
    of: SIGNED,
    change: (good) => ({
      authenticate: (credentials) =>
        good.authenticate({ ...credentials, target: credentials.target.replace(/x$/, '') }),
    }),
  },
  {
    clause: 'authenticator.good',
    defect: 'accepts each token once',
    change: (good) => {
      const used = new Set<string>();
      return {
        authenticate: (credentials) => {
          if (used.has(credentials.token)) return null;
          used.add(credentials.token);
          return good.authenticate(credentials);
        },
      };
    },
  },
  {
    clause: 'authenticator.good',
    defect: 'adds a scope',
    change: (good) => ({
      authenticate: async (credentials) => {
        const actor = (await good.authenticate(credentials)) as Actor | null;
        return actor && { ...actor, scopes: new Set([...actor.scopes, 'console.admin']) };
      },
    }),
  },
  {
    clause: 'authenticator.actor',
    defect: 'returns scopes as a list',
    change: (good) => ({
      authenticate: async (credentials) => {
        const actor = (await good.authenticate(credentials)) as Actor | null;
        return actor && { ...actor, scopes: [...actor.scopes] as unknown as Set<string> };
      },
    }),
  },
  {
    clause: 'authenticator.bad',
    defect: 'throws for invalid credentials',
    change: (good) => ({
      authenticate: async (credentials) => {
        const actor = await good.authenticate(credentials);
        if (actor === null) throw new Error('expired');
        return actor;
      },
    }),
  },
  {
    clause: 'authenticator.garbage',
    defect: 'accepts an empty token as a guest',
    change: (good) => ({
      authenticate: (credentials) =>
        credentials.token === ''
          ? { kind: 'user', id: 'guest', scopes: new Set() }
          : good.authenticate(credentials),
    }),
  },
  {
    clause: 'authenticator.near-miss',
    defect: 'trims tokens',
    change: (good) => ({
      authenticate: (credentials) =>
        good.authenticate({ ...credentials, token: credentials.token.trim() }),
    }),
  },
  {
    clause: 'authenticator.scheme',
    defect: 'ignores the scheme',
    change: (good) => ({ authenticate: ({ token }) => good.authenticate(bearer(token)) }),
  },
  {
    clause: 'authenticator.apart',
    defect: 'keeps the token of the current call in a shared variable',
    change: (good) => {
      let current = bearer('');
      return {
        authenticate: async (credentials) => {
          current = credentials;
          await Promise.resolve();
          return good.authenticate(current);
        },
      };
    },
  },
  {
    clause: 'authenticator.no-secrets',
    defect: 'keeps tokens in a public cache',
    change: (good) => {
      const cache = new Map<string, unknown>();
      return {
        cache,
        authenticate: async (credentials) => {
          const actor = await good.authenticate(credentials);
          cache.set(credentials.token, actor);
          return actor;
        },
      } as Partial<Authenticator>;
    },
  },
  {
    clause: 'authenticator.no-secrets',
    defect: 'logs tokens',
    change: (good, { log }) => ({
      authenticate: (credentials) => {
        log.info({ token: credentials.token }, 'token received');
        return good.authenticate(credentials);
      },
    }),
  },
  {
    clause: 'authenticator.no-secrets',
    defect: 'keeps the secret of its config',
    of: SIGNED,
    change: (_good, context) => {
      const key = context.secret('env:KEY').reveal();
      return { key } as Partial<Authenticator>;
    },
  },
  {
    clause: 'authenticator.handles',
    defect: 'leaks a timer',
    change: () => {
      timers.push(setInterval(() => {}, 1_000));
      return {};
    },
  },
];

describe('authenticator clauses', () => {
  afterEach(() => {
    for (const timer of timers.splice(0)) clearInterval(timer);
  });

  for (const { clause, defect, of = TOKENS, change = () => ({}), changeFactory } of MUTANTS) {
    it(`${clause} catches an authenticator that ${defect}`, async () => {
      const authenticator: AuthenticatorFactory = {
        ...of.authenticator,
        open: async (config, context) => {
          const good = await of.authenticator.open(config, context);
          return { ...good, ...(await change(good, context)) };
        },
        ...changeFactory,
      };
      const subject = { ...of, authenticator, timeoutMs: 500 };
      const [result, ...others] = await runAuthenticatorClauses(subject, { only: [clause] });
      expect(others).to.deep.equal([]);
      expect(result?.status, `${result?.reason}`).to.equal('fail');
    });
  }

  it('have at least one mutant each', () => {
    const caught = new Set(MUTANTS.map(({ clause }) => clause));
    expect(AUTHENTICATION.map(({ id }) => id).filter((id) => !caught.has(id))).to.deep.equal([]);
  });

  it('are skipped with the reason of a subject that cannot run here', async () => {
    const start = async () => ({ skip: 'no server' });
    const results = await runAuthenticatorClauses({ ...TOKENS, start });
    expect(results.map(({ id }) => id)).to.deep.equal(AUTHENTICATION.map(({ id }) => id));
    for (const { status, reason } of results) {
      expect({ status, reason }).to.deep.equal({ status: 'skip', reason: 'no server' });
    }
  });

  it('fail, and stop the subject later, when its start takes too long', async () => {
    let startNow = () => {};
    const late = new Promise<void>((resolve) => {
      startNow = resolve;
    });
    let isStopped = false;
    const start = async () => {
      await late;
      const stop = async () => {
        isStopped = true;
      };
      return { ...(await startSigned()), stop };
    };
    const [result] = await runAuthenticatorClauses(
      { ...SIGNED, start, timeoutMs: 50 },
      { only: ['authenticator.name'] },
    );
    expect(result).to.include({
      status: 'fail',
      reason: 'start of the subject did not settle within 50 ms',
    });
    startNow();
    await waitUntil('the stop of the subject', async () => isStopped);
  });

  it('are selected by their area', async () => {
    const ids = async (only: string) =>
      (await runAuthenticatorClauses(DEV, { only: [only] })).map(({ id }) => id);
    expect(await ids('authenticator.*')).to.deep.equal(AUTHENTICATION.map(({ id }) => id));
    expect(await ids('auth.*')).to.deep.equal([]);
    expect(await ids('authenticator.')).to.deep.equal([]);
  });
});
