import { any, defaulted, string, type } from 'superstruct';
import type {
  Actor,
  Authenticator,
  AuthenticatorContext,
  AuthenticatorFactory,
  SignedCredentials,
} from '../../../../core/contract/index.js';
import type { AuthenticatorSubject } from '../../../../core/testkit/index.js';

import { bearer, SIGNED } from '../authenticator-subjects.js';

export interface AuthenticatorMutant {
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

/** The test ends them. */
export const timers: NodeJS.Timeout[] = [];

export const MUTANTS: readonly AuthenticatorMutant[] = [
  {
    clause: 'authenticator.declaration',
    defect: 'is for another contract version',
    changeFactory: { contract: 2 as 1 },
  },
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
    clause: 'authenticator.config',
    defect: 'accepts every key beside one with a default',
    changeFactory: {
      config: type({
        file: string(),
        ttl: defaulted(string(), '1'),
      }) as unknown as AuthenticatorFactory['config'],
    },
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
    defect: 'reads a header with another meaning for the host',
    change: () => ({ reads: ['authorization', 'content-type'] }),
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
    clause: 'authenticator.actor',
    defect: 'returns roles as a text',
    change: (good) => ({
      authenticate: async (credentials) => {
        const actor = (await good.authenticate(credentials)) as Actor | null;
        return actor && { ...actor, roles: 'admin' as unknown as string[] };
      },
    }),
  },
  {
    clause: 'authenticator.good',
    defect: 'returns signed credentials without a digest',
    change: (good) => ({
      authenticate: async (credentials) => {
        const actor = (await good.authenticate(credentials)) as Actor | null;
        return actor && ({ actor } as SignedCredentials);
      },
    }),
  },
  {
    clause: 'authenticator.bad',
    defect: 'rejects for a reason that is not in the list',
    change: (good) => ({
      authenticate: async (credentials) =>
        (await good.authenticate(credentials)) ?? { rejected: 'sealed' as 'expired' },
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
